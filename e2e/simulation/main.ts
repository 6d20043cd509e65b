/**
 * `npm run simulate`: runs seeds and prints those that break a promise, prints the events of one,
 * or runs a scenario in every order. Exits with 1 when a promise was broken.
 */
import { readProgram } from "../support/program.ts";
import { runEveryOrder } from "./modes/every-order.ts";
import { ONCE_RED } from "./modes/once-red.ts";
import { ACTORS } from "./modes/run-world.ts";
import { SCENARIOS } from "./modes/scenarios.ts";
import { shrink } from "./modes/shrink.ts";
import { type WorldName, WORLDS } from "./modes/worlds.ts";

const NAMES = [...Object.keys(SCENARIOS), "all"];
const WORLD_NAMES = Object.keys(WORLDS);
const HELP = `Usage: npm run simulate -- [OPTIONS]

Runs brokers, a store, a vendor, users, a platform and an attacker in one process and in virtual time. The seed decides
which answer comes next, which is late or lost, and when a process crashes. After every event the promises of
e2e/simulation/README.md are checked.

  --seeds A..B           these seeds (default 1..100), after those that were red once; prints those that broke a promise
  --seed N               one seed, and its story; if it breaks a promise, that of the smallest run which breaks it, too
  --world WORLD          what runs: ${WORLD_NAMES.join(" or ")} (default ${WORLD_NAMES[0]})
  --actors A,B           with --seed: only these of ${ACTORS.join(", ")}; nothing is reduced then
  --exhaustive SCENARIO  every order of the store's and the vendor's answers; the story of the first that is broken:
                         ${NAMES.join(", ")}
  -h, --help             this text
  -v, --version          the version

Exits with 1 when a promise was broken.`;

type Values = Readonly<Record<"seeds" | "world", string> & Partial<Record<"seed" | "actors" | "exhaustive", string>>>;

/**
 * @returns runs what is asked for, and returns whether every promise was kept
 * @throws Error with a sentence for the user
 */
function readAsked({ seed, seeds, actors: given, exhaustive, world }: Values): () => Promise<boolean> {
  if (exhaustive !== undefined) {
    if (!NAMES.includes(exhaustive)) throw new Error(`--exhaustive takes ${NAMES.join(", ")}`);
    return () => runScenarios(exhaustive === "all" ? Object.keys(SCENARIOS) : [exhaustive]);
  }
  const [, first, last] = /^(\d{1,9})\.\.(\d{1,9})$/.exec(seed === undefined ? seeds : `${seed}..${seed}`) ?? [];
  if (first === undefined || last === undefined) throw new Error("a seed is a number, and seeds are two: 1..1000");
  if (Number(first) > Number(last)) throw new Error("the first seed is greater than the last");
  if (!isWorld(world)) throw new Error(`--world takes ${WORLD_NAMES.join(" or ")}`);
  const actors = given?.split(",");
  if (actors?.every((actor) => ACTORS.includes(actor)) === false) throw new Error(`actors are ${ACTORS.join(", ")}`);
  return () =>
    seed === undefined ? runSeeds(world, Number(first), Number(last)) : tellSeed(world, Number(seed), actors);
}

function isWorld(name: string): name is WorldName {
  return WORLD_NAMES.includes(name);
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function runScenarios(names: readonly string[]): Promise<boolean> {
  let isKept = true;
  for (const name of names) {
    const { orders, broken, story } = await runEveryOrder(SCENARIOS[name]!);
    for (const line of [...story.slice(broken.length > 0 ? 0 : story.length), ...broken]) say(line);
    say(`${name}: ${orders} orders, ${broken.length === 0 ? "every promise kept" : "the last broke a promise"}`);
    isKept &&= broken.length === 0;
  }
  return isKept;
}

async function tellSeed(world: WorldName, seed: number, actors: readonly string[] | undefined): Promise<boolean> {
  const runSeed = WORLDS[world];
  const whole = await runSeed(seed, actors && { actors });
  const isKept = whole.broken.length === 0;
  const told = isKept || actors !== undefined ? whole : ((await shrink(runSeed, seed)) ?? whole);
  for (const line of [...told.story, ...told.broken]) say(line);
  if (told !== whole) say(`seed ${seed} breaks it, too, after ${whole.events} events instead of ${told.events}`);
  const again = `--world ${world} --seed ${told.seed} --actors ${told.actors.join(",")}`;
  say(`${again}: ${isKept ? "every promise kept" : "a promise broken"}`);
  return isKept;
}

async function runSeeds(world: WorldName, first: number, last: number): Promise<boolean> {
  const seeds = Array.from({ length: last - first + 1 }, (_, index) => ({ seed: first + index }));
  const onceRed = ONCE_RED.filter((one) => one.world === world);
  let count = 0;
  for (const { seed, ...options } of [...onceRed, ...seeds]) {
    const { broken } = await WORLDS[world](seed, options);
    if (broken.length > 0) count += 1;
    for (const sentence of broken) say(`seed ${seed}: ${sentence}`);
  }
  say(`${seeds.length} seeds of ${world} and ${onceRed.length} once red, ${count} broke a promise`);
  return count === 0;
}

const options = {
  seeds: { type: "string", default: "1..100" },
  seed: { type: "string" },
  actors: { type: "string" },
  exhaustive: { type: "string" },
  world: { type: "string", default: "brokers" },
} as const;
const run = readProgram(options, { program: "npm run simulate --", help: HELP }, ({ values }) => readAsked(values));
if (run !== undefined) process.exitCode = (await run()) ? 0 : 1;
