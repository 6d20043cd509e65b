/**
 * `npm run create-server`, in the repository: builds the materials of projects first, from the
 * current sources.
 */
import { stopwatch } from "./clock.ts";
import { calledIn, takenByNpm } from "./config.ts";
import { create, terminal } from "./create.ts";
import { makeMaterials, makeTarballs, MATERIALS, ROOT, versionOfThis } from "./materials/make-materials.ts";
import { readMaterials } from "./materials/materials.ts";

process.exitCode = await create(process.argv.slice(2), {
  ...terminal,
  from: calledIn(),
  takenByNpm: takenByNpm(),
  repository: ROOT,
  version: versionOfThis(),
  materials: async () => {
    const elapsed = stopwatch();
    terminal.say("Packing the core, which takes half a minute the first time");
    makeTarballs();
    makeMaterials();
    terminal.say(`Packed the core (${elapsed()})`);
    return readMaterials(MATERIALS);
  },
});
