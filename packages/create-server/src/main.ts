/**
 * `npm run create-server`, in the repository: builds the materials of projects first, from the
 * current sources.
 */
import { join } from "node:path";
import { calledIn } from "./config.ts";
import { create, terminal } from "./create.ts";
import { makeMaterials, MATERIALS, ROOT, versionOfThis } from "./materials/make-materials.ts";
import { readMaterials } from "./materials/materials.ts";

process.exitCode = await create(process.argv.slice(2), {
  ...terminal,
  from: calledIn(),
  repository: join(ROOT),
  version: versionOfThis(),
  materials: async () => {
    makeMaterials(terminal.say);
    return readMaterials(MATERIALS);
  },
});
