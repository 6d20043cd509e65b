/** One run of everything, from one number. */
import { attack } from "../actors/attacker.ts";
import { createBrowser } from "../actors/browser.ts";
import { type Account, checkRecovery, createAccount, livePlatform } from "../actors/platform.ts";
import { clientNamed, type Setting } from "../world/processes.ts";
import { createRandom, type Random } from "../world/random.ts";
import { anyOf } from "../world/scheduler.ts";
import type { Weaken } from "../world/store.ts";
import type { Attacker } from "../actors/tricks.ts";
import { createWorld, type World } from "../world/world.ts";

export interface Outcome {
  readonly seed: number;
  /** Who took part. */
  readonly actors: readonly string[];
  readonly broken: readonly string[];
  readonly story: readonly string[];
  /** Up to the first broken promise, or to the end. */
  readonly events: number;
}

const USERS = ["anna", "bert", "cleo"];
/** Replays what it saw, and writes the table. */
const ATTACKER = "mallory";
/** The store goes away, and processes crash. */
const OUTAGES = "outages";
export const ACTORS: readonly string[] = [...USERS, ATTACKER, OUTAGES];

const BROKERS = 2;
/** Within the five seconds that leases allow for. */
const MOST_AHEAD_SECONDS = 2;

export interface SeedOptions {
  readonly weaken?: Weaken;
  /** Default: the seed decides how many users there are; all others take part. */
  readonly actors?: readonly string[];
  /** The run is cut off there: a promise may break before, or not at all. */
  readonly mostEvents?: number;
}

export async function runSeed(seed: number, options: SeedOptions = {}): Promise<Outcome> {
  const { weaken, mostEvents = Infinity } = options;
  const random = createRandom(seed);
  const setting = drawSetting(random);
  const [north, mallory] = [clientNamed("north", setting), clientNamed(ATTACKER, setting)];
  const aheadSeconds = Array.from({ length: BROKERS }, () => random.below(MOST_AHEAD_SECONDS + 1));
  const world = await createWorld({
    choose: anyOf(random),
    random,
    clients: [north, mallory],
    aheadSeconds,
    ...(weaken === undefined ? {} : { weaken }),
  });
  const drawn = [...USERS.slice(0, 1 + random.below(USERS.length)), ATTACKER, OUTAGES];
  const actors = options.actors ?? drawn;
  const users = USERS.filter((user) => actors.includes(user)).map((user) => createAccount(user, north, world));
  const [own, amongOthers] = [createAccount(ATTACKER, mallory, world), createAccount(ATTACKER, north, world)];
  const attacker = actors.includes(ATTACKER)
    ? { own: withCookies(own), amongOthers: withCookies(amongOthers), victims: users }
    : undefined;
  const together = { users, attacker, hasOutages: actors.includes(OUTAGES) };
  const isEnough = (events: number): boolean => events >= mostEvents;
  const events = await runToEnd(world, () => liveTogether(together, world, random), isEnough);
  for (const page of await world.processes.metrics()) world.promises.wrote(page);
  await world.processes.close();
  return { seed, actors, broken: world.promises.broken(), story: world.story, events };
}

function drawSetting(random: Random): Setting {
  const bringsClients = random.happens(30);
  const hasOwners = bringsClients || random.happens(80);
  return { hasOwners, bringsClients, refreshTokens: random.happens(20) ? "sealed" : "vendor" };
}

/** An attacker keeps the cookies that a browser would drop. */
function withCookies(account: Account): Account {
  const { asker, world } = account;
  return {
    ...account,
    browser: createBrowser({ name: `${asker.name}'s browser` }, world, { keepsCookies: true }),
  };
}

interface Together {
  readonly users: readonly Account[];
  readonly attacker: Attacker | undefined;
  readonly hasOutages: boolean;
}

async function liveTogether({ users, attacker, hasOutages }: Together, world: World, random: Random): Promise<void> {
  let isOver = false;
  const living = Promise.all([
    ...users.map((user) => livePlatform(user, 1 + random.below(3))),
    attacker && attack(attacker, world, 20),
  ]);
  if (hasOutages) void trouble(world, random, () => isOver);
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

/**
 * Runs events until the program is over; what it throws breaks a promise too.
 *
 * @param isCutOff after so many events
 * @returns how many there were
 */
export async function runToEnd(
  world: Pick<World, "scheduler" | "promises">,
  program: () => Promise<void>,
  isCutOff: (events: number) => boolean = () => false,
): Promise<number> {
  let isOver = false;
  let events = 0;
  const running = program()
    .catch((error: unknown) => world.promises.broke(`the simulation itself failed: ${String(error)}`))
    .finally(() => (isOver = true));
  const { scheduler, promises } = world;
  await scheduler.run(
    () => isOver || promises.broken().length > 0 || isCutOff(events),
    () => {
      events += 1;
      promises.checkBounds(scheduler.nowMs());
    },
  );
  if (promises.broken().length > 0 || isCutOff(events)) return events;
  if (!isOver) promises.broke("a request was never answered");
  else await running;
  return events;
}
