/** One run of everything, from one number. */
import { attack, type Attacker } from "./actors/attacker.ts";
import { createBrowser } from "./actors/browser.ts";
import { type Account, checkRecovery, createAccount, livePlatform } from "./actors/platform.ts";
import { clientNamed } from "./processes.ts";
import { createRandom, type Random } from "./random.ts";
import type { Weaken } from "./store.ts";
import { createWorld, type World } from "./world.ts";

export interface Outcome {
  readonly broken: readonly string[];
  readonly story: readonly string[];
}

const USERS = ["anna", "bert", "cleo"];
const BROKERS = 2;
/** Within the five seconds that leases allow for. */
const MOST_AHEAD_SECONDS = 2;

export interface SeedOptions {
  readonly weaken?: Weaken;
}

export async function runSeed(seed: number, { weaken }: SeedOptions = {}): Promise<Outcome> {
  const random = createRandom(seed);
  const [north, mallory] = [clientNamed("north"), clientNamed("mallory")];
  const aheadSeconds = Array.from({ length: BROKERS }, () => random.below(MOST_AHEAD_SECONDS + 1));
  const world = await createWorld({
    choose: (count) => random.below(count),
    random,
    clients: [north, mallory],
    aheadSeconds,
    ...(weaken === undefined ? {} : { weaken }),
  });
  const users = USERS.slice(0, 1 + random.below(USERS.length)).map((user) => createAccount(user, north, world));
  const [own, amongOthers] = [createAccount("mallory", mallory, world), createAccount("mallory", north, world)];
  const attacker = { own: withCookies(own), amongOthers: withCookies(amongOthers) };
  await runToEnd(world, () => liveTogether(users, attacker, world, random));
  for (const page of await world.processes.metrics()) world.promises.wrote(page);
  await world.processes.close();
  return { broken: world.promises.broken(), story: world.story };
}

/** An attacker keeps the cookies that a browser would drop. */
function withCookies(account: Account): Account {
  const { asker, world } = account;
  return {
    ...account,
    browser: createBrowser({ name: `${asker.user ?? ""}'s browser` }, world, { keepsCookies: true }),
  };
}

async function liveTogether(
  users: readonly Account[],
  attacker: Attacker,
  world: World,
  random: Random,
): Promise<void> {
  let isOver = false;
  const living = Promise.all([
    ...users.map((user) => livePlatform(user, 1 + random.below(3))),
    attack(attacker, world, 20),
  ]);
  void trouble(world, random, () => isOver);
  await living;
  isOver = true;
  world.endFaults();
  // As long as a lease may last that a crash has left.
  await world.scheduler.wait(40_000);
  await Promise.all(users.map((user) => checkRecovery(user)));
}

/** The store goes away, and processes crash. */
async function trouble(world: World, random: Random, isOver: () => boolean): Promise<void> {
  for (;;) {
    await world.scheduler.wait(10_000 + random.below(50_000));
    if (isOver()) return;
    if (random.happens(50)) world.store.goAway(world.scheduler.nowMs() + random.below(8_000));
    else await world.processes.crash(random.below(world.processes.count));
  }
}

/** Runs events until the program is over; what it throws breaks a promise too. */
export async function runToEnd(world: World, program: () => Promise<void>): Promise<void> {
  let isOver = false;
  const running = program()
    .catch((error: unknown) => world.promises.broke(`the simulation itself failed: ${String(error)}`))
    .finally(() => (isOver = true));
  const { scheduler, promises } = world;
  await scheduler.run(
    () => isOver || promises.broken().length > 0,
    () => promises.checkBounds(scheduler.nowMs()),
  );
  if (promises.broken().length > 0) return;
  if (!isOver) promises.broke("a request was never answered");
  else await running;
}
