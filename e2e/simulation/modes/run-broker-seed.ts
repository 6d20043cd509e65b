/** One run of brokers, from one number. */
import { ISSUER } from "@oauth-broker/broker/src/testing/memory-config.ts";
import { defined } from "@oauth-broker/oauth-core";
import { attack } from "../actors/attacker.ts";
import { createBrowser } from "../actors/browser.ts";
import { type Account, checkRecovery, createAccount, livePlatform } from "../actors/platform.ts";
import type { Attacker } from "../actors/tricks.ts";
import { clientNamed, type Setting } from "../world/processes.ts";
import { createSeeded, type Random } from "../../support/seeded.ts";
import { anyOf } from "../world/scheduler.ts";
import { createWorld } from "../world/world.ts";
import { ATTACKER, drawActors, drawClocks, type Outcome, runActors, type SeedOptions, USERS } from "./run-world.ts";

export async function runBrokerSeed(seed: number, options: SeedOptions = {}): Promise<Outcome> {
  const random = createSeeded(seed);
  const setting = drawSetting(random);
  const [north, mallory] = [clientNamed("north", setting), clientNamed(ATTACKER, setting)];
  const world = await createWorld({
    choose: anyOf(random),
    random,
    clients: [north, mallory],
    aheadSeconds: drawClocks(random),
    ...defined({ weaken: options.weaken }),
  });
  const actors = drawActors(USERS.length, random, options);
  const users = USERS.filter((user) => actors.includes(user)).map((user) => createAccount(user, north, world));
  const [own, amongOthers] = [createAccount(ATTACKER, mallory, world), createAccount(ATTACKER, north, world)];
  const attacker: Attacker | undefined = actors.includes(ATTACKER)
    ? { own: withCookies(own), amongOthers: withCookies(amongOthers), victims: users }
    : undefined;
  const live = async (): Promise<unknown> =>
    Promise.all([
      ...users.map((user) => livePlatform(user, 1 + random.below(3))),
      attacker && attack(attacker, world, 20),
    ]);
  const recover = async (): Promise<unknown> => Promise.all(users.map((user) => checkRecovery(user)));
  const inspect = async (): Promise<void> => {
    for (const { app } of world.processes.programs()) {
      world.promises.wrote(await (await app.request(`${ISSUER}/metrics`)).text());
    }
  };
  return runActors(seed, { actors, world, random, services: [world.storeDistance], live, recover, inspect }, options);
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
