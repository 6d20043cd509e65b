/**
 * An attacker who sees every URL, code and refresh token a moment after it was used or made, and is
 * a user of the server with a client and a browser; but has no cookies of others. The browser keeps
 * the cookies that the server has ended.
 */
import { type Loot, parametersOf } from "../world/network.ts";
import type { Random } from "../../support/seeded.ts";
import { fieldsOf } from "./browser.ts";
import { formAt, isDisconnected, openConnections } from "./connections.ts";
import { newVerifier, pause } from "./habits.ts";
import { authorizePath, callTool, follow, postToken, redeem, type Seat, signIn, visit } from "./mcp-client.ts";

/** @param others whose browsers open what the attacker sends them */
export async function attackServers(own: Seat, others: readonly Seat[], rounds: number): Promise<void> {
  const { random, loot } = own.world;
  if (random === undefined) return;
  await signIn(own, 3);
  for (let round = 0; round < rounds; round += 1) {
    await pause(own, 6_000);
    const recent = loot.slice(-12);
    if (recent.length > 0) await replay(own, random.pick(recent), random);
    if (random.happens(20) && others.length > 0)
      await random.pick(others).browser.open((await ownCallback(own)) ?? "/connections");
    if (random.happens(15) && others.length > 0) await forgeDisconnect(own, random.pick(others));
  }
}

/** The form of the attacker's own page, posted in the browser of another user. */
async function forgeDisconnect(own: Seat, { browser }: Seat): Promise<void> {
  const page = await openConnections(own);
  if (page === undefined) return;
  const [linked, free] = [formAt(page, "disconnect"), formAt(page, "connect")];
  const form = { ...(linked["csrf"] === undefined ? free : linked), action: "disconnect" };
  if (isDisconnected(await browser.submit("/connections", form)))
    own.world.promises.broke("a forged form was taken for the user's");
}

async function replay(own: Seat, found: Loot, random: Random): Promise<void> {
  switch (found.kind) {
    // Only brokers are asked about a connection.
    case "presented":
      return;
    case "path":
      return replayPath(own, found.path);
    case "code": {
      const verifier = random.happens(50) ? newVerifier() : undefined;
      const clientId = random.happens(50) ? clientOf(own.world.loot, random) : own.clientId;
      return useCode({ ...own, clientId: clientId ?? own.clientId }, found.code, verifier);
    }
    case "refresh":
      await postToken(own, { grant_type: "refresh_token", client_id: own.clientId ?? "", refresh_token: found.token });
  }
}

/** The id of a public client is in every URL that it begins with. */
function clientOf(loot: readonly Loot[], random: Random): string | undefined {
  const ids = loot.flatMap((one) => (one.kind === "path" ? parametersOf(one.path).getAll("client_id") : []));
  return ids.length === 0 ? undefined : random.pick(ids);
}

async function useCode(own: Seat, code: string, verifier: string | undefined): Promise<void> {
  const session = await redeem(own, code, verifier);
  if (session !== undefined) await callTool(own, session);
}

/** In the attacker's own browser; and the vendor's code of another user in a flow of the attacker's. */
async function replayPath(own: Seat, path: string): Promise<void> {
  const stolen = parametersOf(path).get("code");
  await follow(own, path, "decision");
  if (stolen === null || stolen.includes(own.user)) return;
  for (const vendor of own.world.vendors.values()) vendor.expectStolen(stolen);
  const verifier = newVerifier();
  const back = await ownCallback(own, verifier);
  if (back === undefined) return;
  const parameters = parametersOf(back);
  parameters.set("code", stolen);
  const code = await follow(own, `/callback?${parameters.toString()}`);
  if (code !== undefined) await useCode(own, code, verifier);
}

/** @returns the path to which the vendor sends the attacker's browser, not opened */
async function ownCallback(own: Seat, verifier = newVerifier()): Promise<string | undefined> {
  const path = await authorizePath(own, verifier);
  const page = path === undefined ? undefined : await own.browser.open(path);
  if (page?.status !== 200) return undefined;
  const { to } = (await own.browser.submit("/authorize", { ...fieldsOf(page.text), decision: "approve" })) ?? {};
  return to === undefined || !own.world.vendors.has(to.host) ? undefined : visit(own, to);
}
