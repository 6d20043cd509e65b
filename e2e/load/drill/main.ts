/**
 * `npm run drill`: prints what clients saw in each window beside what they were promised. Exits with
 * 1 when a promise was broken.
 */
import { buildAt } from "../against.ts";
import { setup } from "../../support/setup/built-services.ts";
import { readProgram, runProgram, say } from "../../support/program.ts";
import { FULL, runDrill, runRestoreDrill } from "./drill.ts";
import { THIS_BUILD } from "./fleet.ts";
import { report, type Tally } from "./ledger.ts";

/** The first commit whose records of the broker carry MACs: flows do not pass to it from earlier ones. */
const RELEASE_BEFORE = "5c2093fb";

const HELP = `Usage: npm run drill -- [OPTIONS]

Under load of whole flows, refreshes and calls of /mcp: rolls a deployment from the release before to this one, back,
and forward again; rotates its keys; takes away its table, then KMS; kills one process in three; puts back a copy of a
SQLite store. Prints what clients saw in each window, and what they were promised. Everything runs on loopback.

  --before COMMIT  the release before (default ${RELEASE_BEFORE}); it is built in a temporary folder
  -h, --help       this text
  -v, --version    the version

Takes some 5 minutes. Exits with 1 when a promise was broken.`;

async function run(before: string): Promise<readonly Tally[]> {
  say("building what is older than its sources");
  setup();
  const previous = buildAt(before, say);
  const drilled = await runDrill({ previous, current: THIS_BUILD, size: FULL }, say);
  process.stdout.write(`${report(drilled)}\n\n`);
  const restored = await runRestoreDrill(FULL, say);
  process.stdout.write(`${report(restored)}\n`);
  return [...drilled, ...restored];
}

const options = { before: { type: "string", default: RELEASE_BEFORE } } as const;
const given = readProgram(options, { program: "npm run drill --", help: HELP }, ({ values }) => values);
if (given !== undefined) {
  await runProgram(async () => {
    const tallies = await run(given.before);
    const broken = tallies.filter((one) => one.broken.length > 0);
    process.stdout.write(
      broken.length === 0 ? "\nEvery promise was kept.\n" : `\n${broken.length} promises were broken.\n`,
    );
    process.exitCode = broken.length === 0 ? 0 : 1;
  });
}
