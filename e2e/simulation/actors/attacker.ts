/**
 * An attacker who sees every URL, code and refresh token a moment after it was used or made, and
 * has a client of the broker, a browser, and the right to write the table; but not the secrets and
 * cookies of others, nor the broker's keys.
 */
import type { Random } from "../../support/seeded.ts";
import { type Attacker, TRICKS } from "./tricks.ts";
import { newVerifier } from "./habits.ts";
import { type Account, beginFlow, codeIn, post, redeem } from "./platform.ts";
import { type Loot, parametersOf } from "../world/network.ts";
import type { World } from "../world/world.ts";

export async function attack(attacker: Attacker, world: World, rounds: number): Promise<void> {
  const { random, scheduler, store, loot } = world;
  if (random === undefined) return;
  for (let round = 0; round < rounds; round += 1) {
    await scheduler.wait(random.below(4_000));
    if (random.happens(20)) await store.rewriteFlows();
    if (random.happens(10)) await useTwice(attacker.own);
    const recent = loot.slice(-10);
    if (recent.length > 0) await replay(attacker, random.pick(recent), random);
    if (random.happens(60)) await random.pick(TRICKS)(attacker, world);
  }
}

async function replay({ own, amongOthers }: Attacker, found: Loot, random: Random): Promise<void> {
  switch (found.kind) {
    case "path":
      return replayPath(random.pick([own, amongOthers]), found.path);
    case "code":
      await redeem(random.pick([own, amongOthers]), found.code, newVerifier());
      return;
    case "presented":
    case "refresh": {
      const { token, connection } = found;
      if (own.client.refreshTokens === "sealed" && random.happens(50)) {
        await post(own, "/v1/token", { grant_type: "refresh_token", refresh_token: token });
        return;
      }
      // If no platform has an owner, both belong to one.
      const origin = random.happens(50) || !own.client.hasOwners ? { connection } : { vendor: "acme" };
      await post(own, "/v1/token", { grant_type: "refresh_token", refresh_token: token, ...origin });
      return;
    }
  }
}

/** The attacker's own state, with the flow's record put back in the meantime. */
async function useTwice(account: Account): Promise<void> {
  const { back } = (await beginFlow(account)) ?? {};
  if (back === undefined) return;
  const { random, scheduler, store } = account.world;
  if (random?.happens(50) === true) {
    // Between what a process has read and what it writes.
    const openLater = async (): Promise<void> => {
      await scheduler.wait(random.below(60));
      await account.browser.open(back);
    };
    const rewrite = async (): Promise<void> => {
      for (let times = 0; times < 60; times += 1) {
        await scheduler.wait(5);
        await store.rewriteFlows("parked");
      }
    };
    await Promise.all([openLater(), openLater(), rewrite()]);
    return;
  }
  await account.browser.open(back);
  await store.rewriteFlows();
  await account.browser.open(back);
}

/** In the attacker's own browser; and the vendor's code of another user in a flow of the attacker's. */
async function replayPath(account: Account, path: string): Promise<void> {
  const code = parametersOf(path).get("code");
  await account.browser.open(path);
  if (code !== null && !code.includes(account.asker.user ?? "")) await inject(account, code);
}

async function inject(account: Account, stolen: string): Promise<void> {
  const own = await beginFlow(account);
  if (own === undefined) return;
  account.world.vendor.expectStolen(stolen);
  const back = own.back.replace(/(?<=[?&]code=)[^&]*/, encodeURIComponent(stolen));
  const code = codeIn(await account.browser.open(back));
  if (code !== undefined) await redeem(account, code, own.verifier);
}
