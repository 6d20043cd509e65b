/**
 * A user's grant at the vendor ends while their sessions with the server live: clients get 401 and
 * invalid_grant, so that they stop and ask the user; other users are not affected, and a new
 * authorization restores every session.
 */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { postWhoami } from "../../support/mcp/client.ts";
import { createMcpPlatform, errorOf, type McpPlatform, type PlatformTokens } from "../../support/mcp/platform.ts";
import { type ServerInProcess, serveTemplate } from "../../support/mcp/in-process.ts";
import { hostedEnvironment } from "../../support/mcp/process.ts";
import {
  type GitHubVendor,
  type OpenIdVendor,
  OUR_CLIENT,
  plantAll,
  startGitHubVendor,
  startOpenIdVendor,
} from "../../support/mcp/vendor.ts";

interface Harness {
  readonly server: ServerInProcess;
  readonly platform: McpPlatform;
  /** The server's: it begins at the time of the vendor. */
  readonly now: ReturnType<typeof fixedClock>;
  statusOf(tokens: PlatformTokens): Promise<number>;
}

async function startHarness(env: Readonly<Record<string, string>>): Promise<Harness> {
  const now = fixedClock(Math.floor(Date.now() / 1000));
  const server = await serveTemplate({ ...(await hostedEnvironment()), ...env }, undefined, now);
  const statusOf: Harness["statusOf"] = async ({ accessToken }) => (await postWhoami(server.mcp, accessToken)).status;
  return { server, platform: await createMcpPlatform(server.url), now, statusOf };
}

describe.each([
  ["do not expire", {}],
  ["expire", { expiringTokens: true }],
])("GitHub, whose tokens %s", (_, app) => {
  let vendor: GitHubVendor;
  let harness: Harness;
  beforeAll(async () => {
    vendor = await startGitHubVendor(app);
    harness = await startHarness(vendor.env);
  });
  afterAll(async () => {
    plantAll("live vendor token", vendor.github.liveTokens());
    await harness.server.stop();
    await vendor.close();
  });

  it("ends one user's calls until they authorize again, and then all their sessions live", async () => {
    const { platform, statusOf, server } = harness;
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

/** The lifetime of a user's first access token. Those of a refresh are valid for an hour. */
const FIRST_LIFETIME_SECONDS = 60;

describe("a vendor whose token has expired since the last call", () => {
  let vendor: OpenIdVendor;
  let harness: Harness;
  let tokens: PlatformTokens;
  let lifetimeSeconds: number;
  beforeAll(async () => {
    vendor = await startOpenIdVendor({ accessTokenLifetimeSeconds: () => lifetimeSeconds });
    harness = await startHarness(vendor.env);
  });
  afterAll(async () => {
    await harness.server.stop();
    await vendor.close();
  });
  beforeEach(async () => {
    lifetimeSeconds = FIRST_LIFETIME_SECONDS;
    tokens = await harness.platform.connect();
    lifetimeSeconds = 3600;
    harness.now.advance(FIRST_LIFETIME_SECONDS);
  });

  const answer = (status: number, error: string) =>
    ({
      kind: "answer",
      status,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ error }),
    }) as const;
  const refreshes = (): number =>
    vendor.provider.requests().filter(({ body }) => body["grant_type"] === "refresh_token").length;

  it("is asked once for twenty calls at the same time", async () => {
    const before = refreshes();
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => harness.statusOf(tokens)));
    expect([new Set(statuses), refreshes() - before]).toEqual([new Set([200]), 1]);
  });

  it("and says the grant is over: 401 at once, and it is not asked again", async () => {
    vendor.provider.faults.next("/token", answer(400, "invalid_grant"));
    expect(await harness.statusOf(tokens)).toBe(401);
    const asked = refreshes();
    expect([await harness.statusOf(tokens), await harness.statusOf(tokens)]).toEqual([401, 401]);
    expect(await errorOf(harness.platform.refresh(tokens.refreshToken))).toBe("400 invalid_grant");
    expect(refreshes()).toBe(asked);
    await harness.platform.connect();
    expect(await harness.statusOf(tokens)).toBe(200);
  });

  it.each([
    ["cuts the connection", { kind: "drop" }],
    ["is overloaded", answer(503, "temporarily_unavailable")],
    ["no longer knows our client", answer(401, "invalid_client")],
    [
      "answers with a page",
      { kind: "answer", status: 200, headers: { "content-type": "text/html" }, body: "<h1>Hello</h1>" },
    ],
    ["limits our requests", { kind: "answer", status: 429, headers: { "retry-after": "7" }, body: "" }],
  ] as const)("and %s: 503 with Retry-After, and the session lives", async (_, fault) => {
    vendor.provider.faults.next("/token", fault);
    const down = await postWhoami(harness.server.mcp, tokens.accessToken);
    expect([down.status, down.headers.get("retry-after")], down.text).toEqual([
      503,
      expect.stringMatching(/^[1-9]\d*$/),
    ]);
    // The server's own tokens are refreshed in the meantime: the link is not dead.
    vendor.provider.faults.clear();
    const refreshed = await harness.platform.refresh(tokens.refreshToken);
    await expect.poll(async () => harness.statusOf(refreshed), { interval: 250 }).toBe(200);
  });
});
