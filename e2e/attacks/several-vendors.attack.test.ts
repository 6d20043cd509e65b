/**
 * Attacks on a server with several vendors that need the whole of it: the operator makes another
 * vendor the sign-in vendor, and the same identity there is another user; a `requestState` is
 * presented for another user or another call. The other attacks are tested beside the code.
 */
import { createCookieJar } from "@oauth-broker/simulators";
import { afterAll, describe, expect, it } from "vitest";
import { startSeveralVendors } from "../support/several-vendors/harness.ts";
import { connectLinkingClient, type LinkingClient } from "../support/several-vendors/client.ts";
import { modernCall, rawRequest } from "../../packages/mcp-auth/src/testing/linking/raw-calls.ts";
import { asksToSignIn } from "../../packages/mcp-auth/src/testing/linking/visitor.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const harness = shared(() => startSeveralVendors({ env: { ELICITATION_WAIT_SECONDS: "0" } }));
afterAll(() => expect(harness.seenTokens()).toEqual([]));
const victim = shared(() => connectLinkingClient(harness, { era: "modern" }));

/** A call of 2026-07-28 as it is on the wire. @param params replace those of a client that shows URLs */
async function callModern(accessToken: string, tool: string, params: object = {}) {
  const answer = await harness.fetch(harness.mcp, rawRequest(accessToken, ...modernCall(tool, params)));
  const text = await answer.text();
  const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
  const { result: { requestState, inputRequests = {} } = {}, error } = JSON.parse(json) as {
    readonly result?: { readonly requestState?: string; readonly inputRequests?: InputRequests };
    readonly error?: { readonly code: number };
  };
  const asked = Object.entries(inputRequests).map(([vendor, { params: given }]) => [vendor, given?.url ?? ""]);
  /** `urls`: what the user is asked, by vendor. */
  return { status: answer.status, urls: Object.fromEntries(asked) as Record<string, string>, error, requestState };
}
type InputRequests = Readonly<Record<string, { readonly params?: { readonly url?: string } }>>;

describe("bar#LK-4 a requestState", () => {
  it("of one user's call is none of another user, tool or arguments, and asks nothing", async () => {
    const attacker = await connectLinkingClient(harness, { era: "modern", account: "operator" });
    const at = (who: LinkingClient, tool: string, params: object = {}) => callModern(who.accessToken, tool, params);
    const { requestState } = await at(victim, "chat_post", { arguments: { text: "a" } });
    expect(requestState).toMatch(/^[\w.-]{40,}$/);
    const open = (await at(victim, "chat_post", { arguments: { text: "a" }, requestState })).urls;
    expect(Object.keys(open)).toEqual(["chat"]);
    const refused = [
      at(attacker, "chat_post", { arguments: { text: "a" }, requestState }),
      at(victim, "chat_post", { arguments: { text: "b" }, requestState }),
      at(victim, "chat_account", { requestState }),
      at(victim, "chat_post", { arguments: { text: "a" }, requestState: `${requestState?.slice(0, -2)}AA` }),
      at(victim, "chat_post", { arguments: { text: "a" }, requestState: "x".repeat(65_536) }),
    ];
    for (const answer of await Promise.all(refused)) expect([answer.error?.code, answer.urls]).toEqual([-32_602, {}]);
    await attacker.close();
  });
});

describe("bar#LK-6 another sign-in vendor", () => {
  it("has users of the same names, who get nothing made under the one before", async () => {
    const ofVictim = async (): Promise<readonly string[]> => harness.github.liveTokens("user");
    expect((await victim.call("github_account")).value).toMatchObject({ account: { login: "sample-user" } });
    expect(await ofVictim()).toHaveLength(1);
    const { browser, accessToken } = victim;
    const ticket = (await callModern(accessToken, "chat_account")).urls["chat"] ?? "";
    expect((await browser.open("/connections")).html).toContain("Disconnect GitHub");

    await harness.restart({ SIGN_IN: "chat", ADOPT_SIGN_IN: "true" });

    expect((await callModern(accessToken, "github_account")).status).toBe(401);
    expect(await asksToSignIn(await browser.get("/connections"))).toBe(true);
    // `user` at the chat is another user than `user` at home.
    const namesake = await connectLinkingClient(harness, { era: "modern" });
    expect((await namesake.browser.open(ticket)).status).toBe(410);
    expect((await namesake.browser.open("/connections")).html).not.toContain("Disconnect GitHub");
    expect((await harness.command("links", "list")).stdout).toMatch(/^foreign +github +user /m);
    namesake.onUrl = async (url) => {
      expect(await ofVictim()).toHaveLength(1);
      await namesake.browser.link({ url }, { account: "operator" });
      return "accept";
    };
    expect((await namesake.call("github_account")).value).toMatchObject({ account: { login: "sample-operator" } });
    // Revoked before its row went to another user.
    expect(await ofVictim()).toEqual([]);
    await namesake.close();

    await harness.restart({ SIGN_IN: "home" });
    // Back at the first one: what began there before the operator left is not what it was.
    expect((await callModern(accessToken, "github_account")).status).toBe(401);
    expect(await asksToSignIn(await browser.get("/connections"))).toBe(true);
    const again = await connectLinkingClient(harness, { era: "modern" });
    again.onUrl = async () => "decline";
    expect((await again.call("github_account")).text).toMatch(/^link_declined /);
    await again.close();
  });
});

it("bar#LK-5 a cookie of the pages opens nothing at /mcp, and a planted one is not signed in", async () => {
  const planted = harness.visitor();
  const fresh = harness.visitor();
  await fresh.open("/connections");
  const [name = "", value = ""] =
    (fresh.jar.header(new URL(harness.url)) ?? "")
      .split("; ")
      .find((pair) => pair.startsWith("sign-in-"))
      ?.split("=") ?? [];
  expect(value).toMatch(/^[\w-]{43}$/);
  expect((await callModern(value, "nothing")).status).toBe(401);
  const chosen = "A".repeat(43);
  planted.jar.store(new URL(harness.url), [`${name}=${chosen}; Path=/`]);
  await planted.open("/connections");
  const attacker = createCookieJar();
  attacker.store(new URL(harness.url), [`${name}=${chosen}; Path=/`]);
  const headers = { cookie: attacker.header(new URL(harness.url)) ?? "" };
  const answer = await fetch(`${harness.url}/connections`, { headers, redirect: "manual" });
  expect(await asksToSignIn(answer)).toBe(true);
});
