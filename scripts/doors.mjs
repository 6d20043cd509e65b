// `npm run test:doors`: types the commands of the README's four doors, in order and in one clone.
// Opt-in: it takes some ten minutes and the ports of the README.
import { testE2e } from "./run.mjs";
import { runScript } from "./usage.mjs";

const ABOUT = {
  program: "npm run test:doors",
  help: `Types the commands of the README's four doors, in order and in one clone of this working tree. Takes some ten
minutes; the ports 8787 and 3000 have to be free.`,
};

await runScript(ABOUT, () => testE2e("scenarios/delivery/doors.test.ts", { TYPE_THE_DOORS: "1" }));
