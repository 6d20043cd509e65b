/**
 * `npm run simulate`: runs seeds until one breaks a promise, or tells the story of one. Exits with 1
 * when a promise was broken.
 */
import { readProgram } from "../support/program.ts";
import { runSeed } from "./run-seed.ts";

const HELP = `Usage: npm run simulate -- [OPTIONS]

Runs brokers, a store, a vendor, users, a platform and an attacker in one process and in virtual time. The seed decides
which answer comes next, which is late or lost, and when a process crashes. After every event the promises of
e2e/simulation/README.md are checked.

  --seeds A..B     these seeds (default 1..100); prints those that broke a promise
  --seed N         one seed, and its story
  -h, --help       this text
  -v, --version    the version

Exits with 1 when a promise was broken.`;

interface Asked {
  readonly first: number;
  readonly last: number;
  readonly isTold: boolean;
}

/** @throws Error with a sentence for the user */
function readAsked({ seed, seeds }: { readonly seed?: string; readonly seeds: string }): Asked {
  const [, first, last] = /^(\d{1,9})\.\.(\d{1,9})$/.exec(seed === undefined ? seeds : `${seed}..${seed}`) ?? [];
  if (first === undefined || last === undefined) throw new Error("a seed is a number, and seeds are two: 1..1000");
  if (Number(first) > Number(last)) throw new Error("the first seed is greater than the last");
  return { first: Number(first), last: Number(last), isTold: seed !== undefined };
}

async function run({ first, last, isTold }: Asked): Promise<number> {
  let broken = 0;
  for (let seed = first; seed <= last; seed += 1) {
    const outcome = await runSeed(seed);
    if (isTold) process.stdout.write(`${outcome.story.join("\n")}\n`);
    if (outcome.broken.length > 0) broken += 1;
    for (const sentence of outcome.broken) process.stdout.write(`seed ${seed}: ${sentence}\n`);
  }
  process.stdout.write(`${last - first + 1} seeds, ${broken} broke a promise\n`);
  return broken;
}

const options = { seeds: { type: "string", default: "1..100" }, seed: { type: "string" } } as const;
const asked = readProgram(options, { program: "npm run simulate --", help: HELP }, ({ values }) => readAsked(values));
if (asked !== undefined) process.exitCode = (await run(asked)) === 0 ? 0 : 1;
