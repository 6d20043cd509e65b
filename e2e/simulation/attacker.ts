/**
 * An attacker who sees every URL, code and refresh token a moment after it was used or made, and
 * has a client of the broker and a browser, but not the secrets and cookies of others.
 */
import { randomBytes } from "node:crypto";
import { type Account, codeIn, post, push, redeem, visitVendor } from "./platform.ts";
import type { Loot } from "./world.ts";

export async function attack(account: Account, rounds: number): Promise<void> {
  const { random, scheduler, loot } = account.world;
  if (random === undefined) return;
  for (let round = 0; round < rounds; round += 1) {
    await scheduler.wait(random.below(8_000));
    const recent = loot.slice(-10);
    if (recent.length > 0) await replay(account, random.pick(recent));
  }
}

async function replay(account: Account, found: Loot): Promise<void> {
  switch (found.kind) {
    case "path":
      return replayPath(account, found.path);
    case "code":
      await redeem(account, found.code, randomBytes(32).toString("base64url"));
      return;
    case "refresh": {
      const { token, connection } = found;
      const origin = account.world.random?.happens(50) === true ? { connection } : { vendor: "acme" };
      await post(account, "/v1/token", { grant_type: "refresh_token", refresh_token: token, ...origin });
      return;
    }
  }
}

/** In the attacker's own browser; and the vendor's code of another user in a flow of the attacker's. */
async function replayPath(account: Account, path: string): Promise<void> {
  const code = new URLSearchParams(path.split("?", 2)[1]).get("code");
  await account.browser.open(path);
  if (code !== null && !code.includes(account.asker.user ?? "")) await inject(account, code);
}

async function inject(account: Account, stolen: string): Promise<void> {
  const verifier = randomBytes(32).toString("base64url");
  const path = await push(account, verifier);
  const own = path === undefined ? undefined : await visitVendor(account, path);
  if (own === undefined) return;
  account.world.vendor.expectStolen(stolen);
  const [callback = "", query = ""] = own.split("?", 2);
  const parameters = new URLSearchParams(query);
  parameters.set("code", stolen);
  const code = codeIn(await account.browser.open(`${callback}?${parameters.toString()}`));
  if (code !== undefined) await redeem(account, code, verifier);
}
