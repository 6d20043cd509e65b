// dist/main.js, the published command: nothing to install beside it, and on any Node.js that people still have.
import { bundle } from "@oauth-broker/oauth-core/bundle";

export default {
  ...bundle({ name: "create-server", input: "src/bin.ts", oldestNode: [20, 12] }),
  // Only what is called: of the core that is the registry and checks of values, none of what connects or serves.
  treeshake: { moduleSideEffects: false },
};
