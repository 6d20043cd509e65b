// Bundles the broker with short waits, which tests start again and again, into e2e/dist, as the
// broker is bundled. built-services.ts runs it.
import { join } from "node:path";
import broker from "../../../apps/broker/rolldown.config.mjs";

export default {
  ...broker,
  input: join(import.meta.dirname, "../broker/short-waits-broker.ts"),
  output: { ...broker.output, file: join(import.meta.dirname, "..", "..", "dist", "short-waits-broker.js") },
};
