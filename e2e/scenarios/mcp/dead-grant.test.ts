/**
 * A user's grant at the vendor ends while their sessions with the server live: clients get 401 and
 * invalid_grant, so that they stop and ask the user; other users are not affected, and a new
 * authorization restores every session.
 */
import { afterAll, describe, expect, it } from "vitest";
import { postWhoami } from "../../support/mcp/client.ts";
import { createMcpPlatform, errorOf, type PlatformTokens } from "../../support/mcp/platform.ts";
import { serveTemplate } from "../../support/mcp/in-process.ts";
import { hostedEnvironment } from "../../support/mcp/process.ts";
import { OUR_CLIENT, plantAll, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { shared } from "../../support/shared.ts";

describe.each([
  ["do not expire", {}],
  ["expire", { expiringTokens: true }],
])("GitHub, whose tokens %s", (_, app) => {
  const vendor = shared(() => startGitHubVendor(app));
  const server = shared(async () => serveTemplate({ ...(await hostedEnvironment()), ...vendor.env }));
  afterAll(() => plantAll("live vendor token", vendor.github.liveTokens()));
  const statusOf = async ({ accessToken }: PlatformTokens): Promise<number> =>
    (await postWhoami(server.mcp, accessToken)).status;

  it("ends one user's calls until they authorize again, and then all their sessions live", async () => {
    const platform = await createMcpPlatform(server.url);
    const first = await platform.connect();
    const second = await platform.connect();
    const other = await platform.connect("operator");
    vendor.github.disconnect("user", OUR_CLIENT);

    const answer = await postWhoami(server.mcp, first.accessToken);
    expect([answer.status, answer.text.includes("connect GitHub again")]).toEqual([200, true]);
    const refused = await postWhoami(server.mcp, first.accessToken);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer .*error="invalid_token"/);
    expect([await statusOf(second), await statusOf(other)]).toEqual([401, 200]);
    for (const { refreshToken } of [first, second])
      expect(await errorOf(platform.refresh(refreshToken))).toBe("400 invalid_grant");

    const again = await platform.connect();
    expect([await statusOf(first), await statusOf(second), await statusOf(again)]).toEqual([200, 200, 200]);
    // The earlier refusals have spent nothing.
    const refreshed = await platform.refresh(first.refreshToken);
    expect(await statusOf(refreshed)).toBe(200);
  });
});
