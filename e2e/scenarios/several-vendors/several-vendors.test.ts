/**
 * One sign-in, three vendors, each linked once: what users of stock clients go through, from the
 * first call to a vendor that ends its grant, a scope that is needed later, and a restart. Their
 * clients are never sent to the authorization server again.
 */
import { soonerThan } from "@oauth-broker/oauth-core/testing";
import { setTimeout as sleep } from "node:timers/promises";
import { type SlackSimulator, startSlack } from "@oauth-broker/simulators/vendors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ERAS } from "../../support/mcp/client.ts";
import { OUR_CLIENT } from "../../support/mcp/vendor.ts";
import { plantSecret } from "../../support/secrets.ts";
import { textMember } from "../../support/text-member.ts";
import { connectFirstClient, type FirstError } from "../../support/several-vendors/first-sdk.ts";
import { type SeveralVendors, startSeveralVendors, type VendorName } from "../../support/several-vendors/harness.ts";
import { callModern } from "../../support/several-vendors/raw.ts";
import { connectLinkingClient, type LinkingClient } from "../../support/several-vendors/client.ts";

let harness: SeveralVendors;
beforeAll(async () => {
  harness = await startSeveralVendors();
});
afterAll(() => harness.close());

const USERS = { modern: "user", legacy: "operator" } as const;
/** A server that stops ends the connections that are left then. */
const DRAIN_MS = 10_000;
const SLACK_SECRET = "secret of the Slack app";
const NAMES = { home: "home", chat: "chat", github: "GitHub" } as const;
const LOGINS = { user: "sample-user", operator: "sample-operator" } as const;

describe.each(ERAS)("a user with a stock %s client", (era) => {
  const account = USERS[era];
  let user: LinkingClient;
  const own = { user: account, account: expect.objectContaining({ sub: account }) as unknown };
  const ownGitHub = { user: account, account: expect.objectContaining({ login: LOGINS[account] }) as unknown };

  beforeAll(async () => {
    user = await connectLinkingClient(harness, `${account}'s client`, { era, account });
  });
  afterAll(() => user.close());

  it("has linked the sign-in vendor by signing in", async () => {
    expect((await user.call("home_account")).value).toEqual(own);
    expect(user.asked).toEqual([]);
  });

  it("is asked for each other vendor once, when a tool first needs it", async () => {
    expect((await user.call("chat_account")).value).toEqual(own);
    expect((await user.call("github_account")).value).toEqual(ownGitHub);
    expect(user.asked).toHaveLength(2);
    const { accounts } = (await user.call("all_accounts")).value;
    expect(accounts).toEqual([own.account, own.account, ownGitHub.account]);
    expect(user.asked).toHaveLength(2);
  });

  it.each(["chat", "github"] as const)("links %s again after the user ended the grant there", async (vendor) => {
    const before = user.asked.length;
    await harness.endGrant(vendor, account);
    expect((await user.call(`${vendor}_account`)).value).toEqual(vendor === "chat" ? own : ownGitHub);
    expect(user.asked).toHaveLength(before + 1);
    expect((await user.call("all_accounts")).isError).toBe(false);
    expect(user.asked).toHaveLength(before + 1);
  });

  it("grants a further scope when a tool needs it, and loses none", async () => {
    const before = user.asked.length;
    expect((await user.call("chat_post", { text: "hello" })).value).toEqual(own);
    expect(user.asked).toHaveLength(before + 1);
    const { html } = await user.browser.open("/connections");
    for (const scope of ["openid", "api:read", "api:write"]) expect(html).toMatch(new RegExp(`[> ]${scope}[ <]`));
    expect((await user.call("chat_account")).value).toEqual(own);
    expect(user.asked).toHaveLength(before + 1);
  });

  it("is not asked again by another client of theirs", async () => {
    const { browser } = user;
    const second = await connectLinkingClient(harness, `${account}'s second client`, { era, account, browser });
    expect((await second.call("all_accounts")).isError).toBe(false);
    expect([second.asked, browser.signIns()]).toEqual([[], 1]);
    await second.close();
  });

  it("goes on after a restart, the client still connected", async () => {
    const before = user.asked.length;
    await harness.restart();
    expect((await user.call("all_accounts")).isError).toBe(false);
    expect((await user.call("chat_post")).value).toEqual(own);
    expect((await user.browser.open("/connections")).status).toBe(200);
    expect(user.asked).toHaveLength(before);
  });

  it("signed in once at the client and once in the browser, and no response had a vendor's token", async () => {
    expect([user.authorizations(), user.browser.signIns()]).toEqual([1, 1]);
    expect(harness.issuedTokens()).toBeGreaterThan(5);
    expect(harness.seenTokens()).toEqual([]);
  });
});

describe("a user of another client", () => {
  it("takes a while, and the call waits with one URL", async () => {
    const user = await connectLinkingClient(harness, "waiting client", { era: "modern", account: "operator" });
    await unlink(user, "chat");
    const opened: Promise<unknown>[] = [];
    user.onUrl = async (url) => {
      if (opened.length === 0) opened.push(sleep(1_500).then(() => user.browser.link(url)));
      return "accept";
    };
    expect((await user.call("chat_account")).value).toMatchObject({ account: { sub: "operator" } });
    await Promise.all(opened);
    expect(user.asked).toHaveLength(1);
    await user.close();
  });

  it("is asked again if the waiting process stops, which answers the client at once", async () => {
    const user = await connectLinkingClient(harness, "client of a stopping server", { era: "modern" });
    await unlink(user, "chat");
    const { urls, requestState } = await callModern(harness, user.accessToken, "chat_account");
    const retry = { requestState, inputResponses: { chat: { action: "accept" } } };
    const waiting = callModern(harness, user.accessToken, "chat_account", retry);
    await sleep(1_000);
    const restarting = harness.restart();
    expect((await soonerThan(DRAIN_MS, waiting)).urls).toEqual(urls);
    await restarting;
    await user.browser.link(urls["chat"] ?? "");
    expect((await callModern(harness, user.accessToken, "chat_account", retry)).subs).toEqual(["user"]);
    await user.close();
  });

  it.each([
    ["decline", "link_declined"],
    ["cancel", "link_cancelled"],
  ] as const)("whose client says %s gets no link, and the URL opens nothing any more", async (action, code) => {
    const user = await connectLinkingClient(harness, `client that says ${action}`, { era: "modern" });
    await unlink(user, "github");
    user.onUrl = async () => action;
    const answer = await user.call("github_account");
    expect([answer.isError, answer.text.split(" ")[0]]).toEqual([true, code]);
    expect((await user.browser.open(user.asked[0] ?? "")).status).toBe(410);
    expect((await user.call("nothing")).value).toEqual({ user: "user" });
    await user.close();
  });

  it.each(["deny", "cancel at the vendor"])(
    "who chooses %s on the page is not asked again in this call",
    async (way) => {
      const user = await connectLinkingClient(harness, `client of a user who chooses ${way}`, { era: "modern" });
      await unlink(user, "chat");
      user.onUrl = async (url) => {
        const page = await user.browser.open(url);
        await (way === "deny"
          ? user.browser.press(page, "deny")
          : user.browser.press(page, "approve", { decision: "cancel" }));
        return "accept";
      };
      const answer = await user.call("chat_account");
      expect([answer.isError, answer.text.split(" ")[0], user.asked.length]).toEqual([true, "link_declined", 1]);
      await user.close();
    },
  );

  it.each(ERAS)("that shows no URLs gets a text whose last line is one, %s", async (era) => {
    const user = await connectLinkingClient(harness, `plain ${era} client`, { era, showsUrls: false });
    await unlink(user, "chat");
    await unlink(user, "github");
    const answer = await user.call("all_accounts");
    const url = answer.text.split("\n").at(-1) ?? "";
    expect([answer.isError, answer.text.split("http").length, url.startsWith(`${harness.url}/connect/`)]).toEqual([
      true,
      2,
      true,
    ]);
    await user.browser.link(url);
    const next = (await user.call("all_accounts")).text.split("\n").at(-1) ?? "";
    await user.browser.link(next);
    expect((await user.call("all_accounts")).isError).toBe(false);
    await user.close();
  });

  it("of the SDK's first generation is shown the URL, and calls again", async () => {
    const user = await connectLinkingClient(harness, "signed in before", { era: "legacy" });
    await unlink(user, "github");
    const { client: first } = await connectFirstClient(harness.mcp, user.accessToken);
    const call = { name: "github_account", arguments: {} };
    const error = (await first.callTool(call).catch((thrown: unknown) => thrown)) as FirstError;
    expect(error.code).toBe(-32042);
    expect(error.elicitations).toMatchObject([{ mode: "url", url: expect.stringMatching(/\/connect\/[\w-]{43}$/) }]);
    await user.browser.link(error.elicitations[0]?.url ?? "");
    const { content } = await first.callTool(call);
    expect(content[0]?.text).toContain("sample-user");
    await first.close();
    await user.close();
  });
});

describe("a user of a vendor whose API says inside a 200 which scope the token lacks", () => {
  let slack: SlackSimulator;
  let user: LinkingClient;
  beforeAll(async () => {
    slack = await startSlack();
    slack.addClient({
      clientId: OUR_CLIENT,
      clientSecret: SLACK_SECRET,
      redirectUris: [`${harness.url}/vendors/slack/callback`],
    });
    await harness.restart({
      VENDORS: "home,chat,github,slack",
      VENDOR_SLACK_AUTHORIZATION_URL: textMember(slack.endpoints, "authorization_endpoint"),
      VENDOR_SLACK_TOKEN_URL: textMember(slack.endpoints, "token_endpoint"),
      VENDOR_SLACK_REVOCATION_URL: textMember(slack.endpoints, "revocation_endpoint"),
      VENDOR_SLACK_USERINFO_URL: `${slack.url}/api/auth.test`,
      VENDOR_SLACK_SCOPES: "users:read chat:write",
      VENDOR_SLACK_CLIENT_ID: OUR_CLIENT,
      VENDOR_SLACK_CLIENT_SECRET: SLACK_SECRET,
      SLACK_URL: slack.url,
    });
    user = await connectLinkingClient(harness, "Slack client", { era: "modern" });
  });
  afterAll(async () => {
    await user.close();
    await slack.close();
  });

  it("links it anew when that happens, and the call is not repeated unasked", async () => {
    expect((await user.call("slack_post")).value).toMatchObject({ posted: { ok: true } });
    slack.loseScope("chat:write");
    const refused = await user.call("slack_post");
    expect([refused.isError, refused.text.split("\n")[0]]).toEqual([
      true,
      expect.stringContaining("may have had effects"),
    ]);
    await user.browser.link(refused.text.split("\n").at(-1) ?? "");
    expect((await user.call("slack_post")).value).toMatchObject({ posted: { ok: true } });
  });

  it("is not asked for the same a second time, and no response had its token", async () => {
    slack.loseScope("chat:write");
    expect((await user.call("slack_post")).text).toMatch(/^scope_not_granted /);
    expect(slack.liveTokens()).not.toEqual([]);
    for (const token of slack.liveTokens()) plantSecret("vendor token: slack", token);
    expect(harness.seenTokens()).toEqual([]);
  });
});

it("no response to any of them had a vendor's token", () => {
  expect(harness.issuedTokens()).toBeGreaterThan(15);
  expect(harness.seenTokens()).toEqual([]);
});

/** On the user's page. */
async function unlink({ browser }: LinkingClient, vendor: VendorName): Promise<void> {
  const page = await browser.open("/connections");
  if (page.html.includes(`Disconnect ${NAMES[vendor]}<`)) await browser.press(page, "disconnect", { vendor });
}
