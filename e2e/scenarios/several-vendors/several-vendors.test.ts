/**
 * One sign-in, three vendors, each linked once: what users of stock clients go through, from the
 * first call to a vendor that ends its grant, a scope that is needed later, and a restart. Their
 * clients are never sent to the authorization server again.
 */
import { describe, expect, it } from "vitest";
import { ERAS } from "../../support/mcp/client.ts";
import { startSeveralVendors } from "../../support/several-vendors/harness.ts";
import { connectLinkingClient } from "../../support/several-vendors/client.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const harness = shared(() => startSeveralVendors());

const USERS = { modern: "user", legacy: "operator" } as const;
const LOGINS = { user: "sample-user", operator: "sample-operator" } as const;

describe.each(ERAS)("a user with a stock %s client", (era) => {
  const account = USERS[era];
  const own = { user: account, account: expect.objectContaining({ sub: account }) as unknown };
  const ownGitHub = { user: account, account: expect.objectContaining({ login: LOGINS[account] }) as unknown };

  const user = shared(() => connectLinkingClient(harness, { era, account }));

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
    const second = await connectLinkingClient(harness, { era, account, browser });
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
