/** One run of deployed servers, from one number. */
import { visitConnections } from "../actors/connections.ts";
import { checkRecovery, createSeat, liveClient } from "../actors/mcp-client.ts";
import { attackServers } from "../actors/server-attacker.ts";
import { createRandom } from "../world/random.ts";
import { anyOf } from "../world/scheduler.ts";
import { createServerWorld } from "../world/server-world.ts";
import { ATTACKER, drawActors, type Outcome, runActors, type SeedOptions, USERS } from "./run-world.ts";

const MOST_USERS = 2;
const SERVERS = 2;
const MOST_AHEAD_SECONDS = 2;

export async function runServerSeed(seed: number, options: SeedOptions = {}): Promise<Outcome> {
  const { weaken } = options;
  const random = createRandom(seed);
  const aheadSeconds = Array.from({ length: SERVERS }, () => random.below(MOST_AHEAD_SECONDS + 1));
  const world = await createServerWorld({
    choose: anyOf(random),
    random,
    aheadSeconds,
    ...(weaken === undefined ? {} : { weaken }),
  });
  const actors = drawActors(MOST_USERS, random, options);
  const users = USERS.filter((user) => actors.includes(user)).map((user) => createSeat(user, world));
  const attacker = actors.includes(ATTACKER) ? createSeat(ATTACKER, world, { keepsCookies: true }) : undefined;
  const live = async (): Promise<unknown> =>
    Promise.all([
      ...users.map((user) => liveClient(user, 2 + random.below(3), visitConnections)),
      attacker && attackServers(attacker, users, 12),
    ]);
  const recover = async (): Promise<unknown> => Promise.all(users.map((user) => checkRecovery(user)));
  const services = [world.store, world.keyService];
  const events = await runActors({ actors, world, random, services, live, recover }, options);
  await world.processes.close();
  return { seed, actors, broken: world.promises.broken(), story: world.story, events };
}
