/** One run of deployed servers, from one number. */
import { checkRecovery, createSeat, liveClient } from "../actors/mcp-client.ts";
import { attackServers } from "../actors/server-attacker.ts";
import { createRandom, type Random } from "../world/random.ts";
import { anyOf } from "../world/scheduler.ts";
import { createServerWorld, type ServerWorld } from "../world/server-world.ts";
import { type Outcome, runToEnd } from "./run-seed.ts";

const USERS = ["anna", "bert"];
/** Replays what it saw. */
const ATTACKER = "mallory";
const SERVERS = 2;
const MOST_AHEAD_SECONDS = 2;

export async function runServerSeed(seed: number): Promise<Outcome> {
  const random = createRandom(seed);
  const aheadSeconds = Array.from({ length: SERVERS }, () => random.below(MOST_AHEAD_SECONDS + 1));
  const world = await createServerWorld({ choose: anyOf(random), random, aheadSeconds });
  const actors = USERS.slice(0, 1 + random.below(USERS.length));
  const events = await runToEnd(world, () => liveTogether(actors, world, random));
  await world.processes.close();
  return { seed, actors, broken: world.promises.broken(), story: world.story, events };
}

async function liveTogether(users: readonly string[], world: ServerWorld, random: Random): Promise<void> {
  const seats = users.map((user) => createSeat(user, world));
  let isOver = false;
  void trouble(world, random, () => isOver);
  const attacker = createSeat(ATTACKER, world, { keepsCookies: true });
  await Promise.all([
    ...seats.map((seat) => liveClient(seat, 2 + random.below(3))),
    attackServers(attacker, seats, 12),
  ]);
  isOver = true;
  world.endFaults();
  // As long as a lease may last that a crash has left.
  await world.scheduler.wait(40_000);
  await Promise.all(seats.map((seat) => checkRecovery(seat)));
}

/** The store or the key service goes away, and processes crash. */
async function trouble(world: ServerWorld, random: Random, isOver: () => boolean): Promise<void> {
  for (;;) {
    await world.scheduler.wait(10_000 + random.below(50_000));
    if (isOver()) return;
    const until = world.scheduler.nowMs() + random.below(8_000);
    switch (random.below(3)) {
      case 0:
        world.store.goAway(until);
        break;
      case 1:
        world.keyService.goAway(until);
        break;
      default:
        await world.processes.crash(random.below(SERVERS));
    }
  }
}
