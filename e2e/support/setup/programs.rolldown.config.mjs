// Bundles the programs that tests start again and again into e2e/dist, as the services they stand
// for are bundled. built-services.ts runs it.
import { join } from "node:path";
import broker from "../../../apps/broker/rolldown.config.mjs";
import server from "../../../apps/mcp-template/rolldown.config.mjs";

const program = (service, input, name) => ({
  ...service,
  input: join(import.meta.dirname, input),
  output: { ...service.output, file: join(import.meta.dirname, "..", "..", "dist", name) },
});

export default [
  program(broker, "../broker/short-waits-broker.ts", "short-waits-broker.js"),
  program(server, "../several-vendors/server.ts", "several-vendors-server.js"),
];
