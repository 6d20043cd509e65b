/**
 * `npm run scale`: how cost grows. Prints, for each part, its sections and its lines of
 * docs/capacity.md on stdout, and progress on stderr. Exits with 0 whether or not the aims are met,
 * because a busy machine is not a defect; with 1 when the run itself failed.
 */
import { buildBroker } from "../../support/setup/built-services.ts";
import { readProgram, runProgram, say } from "../../support/program.ts";
import { describeMachine } from "../machine.ts";
import { measurePart, PARTS, type Part, partNamed } from "./parts.ts";
import { foundText } from "./section.ts";
import { FULL } from "./size.ts";

const HELP = `Usage: npm run scale -- [PART …] [OPTIONS]

How cost grows with records, processes, clients and vendors, connections, flows that wait, vendors that hang, and users
whose tokens end together.
Everything runs on loopback, against a vendor and engines of this repository.

${Object.entries(PARTS)
  .map(([name, { about }]) => `  ${name.padEnd(16)}${about}`)
  .join("\n")}

  -h, --help   this text
  -v, --version
               the version

DYNAMODB_LOCAL_ENDPOINT names a DynamoDB Local to use instead of dynalite. The machine should have nothing else to do.`;

async function run(parts: readonly Part[]): Promise<void> {
  say("building the broker where it is older than its sources");
  buildBroker();
  process.stdout.write(`${describeMachine()}\n`);
  for (const part of parts) {
    const startedAt = performance.now();
    const found = await measurePart(part, FULL, (line) => say(`${part}  ${line}`));
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    process.stdout.write(`\n${foundText(found)}\n  (npm run scale -- ${part}: ${seconds} s)\n`);
    process.stdout.write(`\nIts lines of docs/capacity.md:\n\n${found.page.join("\n")}\n`);
  }
}

const about = { program: "npm run scale --", help: HELP, words: true };
const chosen = readProgram({}, about, ({ words }) =>
  words.length === 0 ? (Object.keys(PARTS) as Part[]) : words.map(partNamed),
);
if (chosen !== undefined) await runProgram(() => run(chosen));
