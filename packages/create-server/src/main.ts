/**
 * `npm run create-server`, in the repository: what projects are made of is made first, from the
 * sources as they are.
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
