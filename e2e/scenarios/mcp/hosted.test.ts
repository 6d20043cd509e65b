/**
 * The template in hosted mode with the platform's callback, at two vendors:
 * discovery, registration, consent, the server's own tokens, calls, refresh and revocation, with
 * oauth4webapi and with stock MCP clients.
 */
import { afterAll, describe, expect, it } from "vitest";
import { callTool, connectClient, ERAS, postWhoami } from "../../support/mcp/client.ts";
import { authorizeClient } from "../../support/mcp/client-oauth.ts";
import { createMcpPlatform, errorOf } from "../../support/mcp/platform.ts";
import { serveTemplate } from "../../support/mcp/in-process.ts";
import { hostedEnvironment } from "../../support/mcp/process.ts";
import { type OpenIdVendor, plantAll, startGitHubVendor, startOpenIdVendor } from "../../support/mcp/vendor.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

interface Case {
  readonly start: () => Promise<Pick<OpenIdVendor, "env" | "close"> & { live(): readonly string[] }>;
  /** The answer of `whoami` for a user. */
  readonly identity: Readonly<Record<"user" | "operator", Readonly<Record<string, unknown>>>>;
}

const CASES: Readonly<Record<string, Case>> = {
  GitHub: {
    start: async () => {
      const vendor = await startGitHubVendor();
      return { ...vendor, live: () => vendor.github.liveTokens() };
    },
    identity: { user: { id: 1, login: "sample-user" }, operator: { id: 2, login: "sample-operator" } },
  },
  "an OpenID provider": {
    start: async () => ({ ...(await startOpenIdVendor()), live: () => [] }),
    identity: { user: { sub: "user" }, operator: { sub: "operator" } },
  },
};

describe.each(Object.entries(CASES))("with %s", (_, { start, identity }) => {
  const vendor = shared(start);
  const server = shared(async () => serveTemplate({ ...(await hostedEnvironment()), ...vendor.env }));
  const platform = shared(() => createMcpPlatform(server.url));
  afterAll(() => plantAll("live vendor token", vendor.live()));

  const whoami = async (token: string) => {
    const client = await connectClient(server.mcp, token);
    const answer = await callTool(client, "whoami");
    await client.close();
    return answer.value;
  };

  it("connects a user, calls tools, refreshes, revokes", async () => {
    const tokens = await platform.connect();
    expect(tokens.expiresIn).toBeGreaterThan(60);
    expect(await whoami(tokens.accessToken)).toMatchObject(identity.user);

    const refreshed = await platform.refresh(tokens.refreshToken);
    expect(refreshed.refreshToken).not.toBe(tokens.refreshToken);
    expect(refreshed.scope).toBe(tokens.scope);
    expect(await whoami(refreshed.accessToken)).toMatchObject(identity.user);

    await platform.revoke(refreshed.refreshToken);
    for (const { accessToken } of [tokens, refreshed])
      expect((await postWhoami(server.mcp, accessToken)).status).toBe(401);
    expect(await errorOf(platform.refresh(refreshed.refreshToken))).toBe("400 invalid_grant");
    // With the user's last session their grant at the vendor has ended.
    expect(vendor.live()).toEqual([]);
  });

  it("two users are two, and one user who comes twice is one", async () => {
    const [first, again, other] = [
      await platform.connect("user"),
      await platform.connect("user"),
      await platform.connect("operator"),
    ];
    const calls = Array.from({ length: 30 }, async (_, index) => whoami([first, again, other][index % 3]!.accessToken));
    for (const [index, account] of (await Promise.all(calls)).entries()) {
      expect(account).toMatchObject(index % 3 === 2 ? identity.operator : identity.user);
    }
    // One link for both sessions: it survives the first, and ends with the second.
    await platform.revoke(first.refreshToken);
    expect(await whoami(again.accessToken)).toMatchObject(identity.user);
    await platform.revoke(again.refreshToken);
    expect(await whoami(other.accessToken)).toMatchObject(identity.operator);
    await platform.revoke(other.accessToken);
  });

  it.each(ERAS)("a stock %s client discovers, registers, sends the user and is in", async (era) => {
    const { client, tokens } = await authorizeClient(server.mcp, {
      era,
      account: "operator",
      ...(platform.as["vendor_issuer"] === undefined ? {} : { vendorIssuer: platform.as["vendor_issuer"] }),
    });
    expect((await callTool(client, "whoami")).value).toMatchObject(identity.operator);
    await client.close();
    await platform.revoke(tokens.refreshToken);
  });

  it("bar#OB-2 the log has every call and does not identify the user", () => {
    const lines = server.stdout();
    expect(lines).toContain('"event":"tool_call"');
    // In upper or lower case, and in nothing derived from it: the second user's name is no other
    // word of the log.
    expect(lines).not.toMatch(/operator|sandbox\.example|sample/i);
    expect(lines).not.toMatch(/"(user|sub|login|email|account)":/i);
  });
});
