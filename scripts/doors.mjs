// `npm run test:doors`: types the commands of the README's four doors, in order and in one clone.
// Opt-in: it takes some ten minutes and the ports of the README. The last lines are vitest's counts.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { readOptions } from "./usage.mjs";

readOptions(
  {},
  {
    program: "npm run test:doors --",
    help: `Usage: npm run test:doors

Types the commands of the README's four doors, in order and in one clone of this working tree. Takes some ten
minutes; the ports 8787 and 3000 have to be free.

  -h, --help       this text
  -v, --version    the version`,
  },
);

const { status } = spawnSync("vitest", ["run", "scenarios/delivery/doors.test.ts"], {
  cwd: fileURLToPath(new URL("../e2e", import.meta.url)),
  env: { ...process.env, TYPE_THE_DOORS: "1" },
  stdio: "inherit",
});
process.exit(status ?? 1);
