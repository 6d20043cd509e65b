// Bundles several-vendors-server.ts as an author's server is bundled; built-services.ts runs it in
// the template's folder.
import { join } from "node:path";
import template from "../../apps/mcp-template/rolldown.config.mjs";

export default {
  ...template,
  input: join(import.meta.dirname, "several-vendors-server.ts"),
  output: {
    ...template.output,
    file: join(import.meta.dirname, "..", "dist", "several-vendors-server.js"),
  },
};
