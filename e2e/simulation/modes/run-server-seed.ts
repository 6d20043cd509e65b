/** One run of deployed servers, from one number. */
import { defined } from "@oauth-broker/oauth-core";
import { visitConnections } from "../actors/connections.ts";
import { checkRecovery, createSeat, liveClient } from "../actors/mcp-client.ts";
import { attackServers } from "../actors/server-attacker.ts";
import { createSeeded } from "../../support/seeded.ts";
import { anyOf } from "../world/scheduler.ts";
import { createServerWorld } from "../world/server-world.ts";
import { ATTACKER, drawActors, drawClocks, type Outcome, runActors, type SeedOptions, USERS } from "./run-world.ts";

const MOST_USERS = 2;

export async function runServerSeed(seed: number, options: SeedOptions = {}): Promise<Outcome> {
  const random = createSeeded(seed);
  const world = await createServerWorld({
    choose: anyOf(random),
    random,
    aheadSeconds: drawClocks(random),
    ...defined({ weaken: options.weaken }),
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
  const services = [world.storeDistance, world.keyService];
  return runActors(seed, { actors, world, random, services, live, recover }, options);
}
