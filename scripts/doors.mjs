// `npm run test:doors`: types the commands of the README's four doors, in order and in one clone.
// Opt-in: it takes some ten minutes and the ports of the README. The last lines are vitest's counts.
import { join } from "node:path";
import { root, run } from "./run.mjs";
import { readOptions } from "./usage.mjs";

readOptions({
  program: "npm run test:doors",
  help: `Types the commands of the README's four doors, in order and in one clone of this working tree. Takes some ten
minutes; the ports 8787 and 3000 have to be free.`,
});

run("vitest", ["run", "scenarios/delivery/doors.test.ts"], {
  cwd: join(root, "e2e"),
  env: { ...process.env, TYPE_THE_DOORS: "1" },
});
