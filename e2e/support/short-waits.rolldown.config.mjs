// Bundles short-waits-broker.ts as the broker itself is bundled; built-services.ts runs it in the
// broker's folder.
import { join } from "node:path";
import broker from "../../apps/broker/rolldown.config.mjs";

export default {
  ...broker,
  input: join(import.meta.dirname, "short-waits-broker.ts"),
  output: {
    ...broker.output,
    file: join(import.meta.dirname, "..", "dist", "short-waits-broker.js"),
  },
};
