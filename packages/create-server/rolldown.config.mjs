// dist/main.js, the published command: it needs no installed packages, and starts on every Node.js
// in use.
import { bundle } from "@oauth-broker/service/bundle";

export default {
  ...bundle({ name: "create-server", input: "src/bin.ts", oldestNode: [20, 12] }),
  // Only the code that is called: of the core that is the registry and checks of values, none of
  // what connects or serves.
  treeshake: { moduleSideEffects: false },
};
