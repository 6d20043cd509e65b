import { createHash } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { driveConsent } from "./drive-consent.ts";
import { startSandboxPlatform, type SandboxPlatform } from "./sandbox-platform.ts";
import { startFakeBroker, TOKENS, type FakeBroker } from "./testing/fake-broker.ts";
import { createPlatformVisitor, type PlatformVisitor } from "./testing/platform-visitor.ts";

const SANDBOX = { id: "sandbox", name: "Sandbox vendor", about: "Practice", request: { scope: "openid api:read" } };

let broker: FakeBroker;
let platform: SandboxPlatform;
let visitor: PlatformVisitor;

beforeEach(async () => {
  broker = await startFakeBroker();
  visitor = createPlatformVisitor(() => platform.url);
  platform = await startSandboxPlatform({
    brokerUrl: broker.url,
    clientId: "platform",
    clientSecret: "platform-secret",
    vendors: () => [SANDBOX],
    now: () => 1_700_000_000,
    timeline: async (flowId) => [
      { leg: "spent", at: 1_700_000_000, checks: ["code used once"] },
      { leg: "pushed", at: 1_700_000_000, checks: [`PKCE of ${flowId}`] },
    ],
  });
});
afterEach(() => Promise.all([broker.close(), platform.close()]));

const request: PlatformVisitor["request"] = (path, form) => visitor.request(path, form);
const page = (): Promise<string> => visitor.page();
const press: PlatformVisitor["press"] = (action, having) => visitor.press(action, having);

/** Clicks Connect and lets the browser run up to the platform's callback. */
const leave = (): Promise<URL> =>
  driveConsent(platform.url, {
    cookieJar: visitor.cookieJar,
    stopAt: (url) => url.href.startsWith(platform.redirectUri),
  });

async function connect(): Promise<string> {
  const callback = await leave();
  await request(callback.pathname + callback.search);
  return page();
}

describe("connect", () => {
  it("pushes the request with PKCE and its own credentials, and sends the browser to the broker", async () => {
    const callback = await leave();
    const pushed = broker.posted[0];
    expect(Object.fromEntries(pushed?.form ?? [])).toMatchObject({
      response_type: "code",
      client_id: "platform",
      vendor: "sandbox",
      scope: "openid api:read",
      redirect_uri: platform.redirectUri,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      state: callback.searchParams.get("state"),
    });
    expect(pushed?.authorization).toMatch(/^Basic /);
  });

  it("shows the tokens masked, who signed in, and every leg in order", async () => {
    const shown = await connect();
    for (const part of [
      "access…",
      "16 characters",
      "refres…",
      "https://vendor.example",
      "user-1",
      "flow-1",
      "PKCE of flow-1",
    ])
      expect(shown).toContain(part);
    for (const secret of [TOKENS.access_token, TOKENS.refresh_token, TOKENS.connection, TOKENS.vendor_id_token])
      expect(shown).not.toContain(secret);
    const legs = [
      "prepares the request",
      "accepts the pushed",
      "back at the platform",
      "redeems the vendor",
      "receives the tokens",
    ];
    expect(legs.map((leg) => shown.indexOf(leg)).toSorted((a, b) => a - b)).toEqual(
      legs.map((leg) => shown.indexOf(leg)),
    );
    expect(legs.every((leg) => shown.includes(leg))).toBe(true);
  });

  it("redeems with the verifier whose challenge was pushed", async () => {
    await connect();
    const [pushed, redeemed] = broker.posted;
    const digest = await crypto.subtle.digest("SHA-256", Buffer.from(redeemed?.form.get("code_verifier") ?? ""));
    expect(Buffer.from(digest).toString("base64url")).toBe(pushed?.form.get("code_challenge"));
    expect(redeemed?.form.get("code")).toBe("broker-code");
  });

  it("finishes in no other browser, and only once", async () => {
    const callback = await leave();
    const address = callback.pathname + callback.search;
    expect((await createPlatformVisitor(() => platform.url).request(address)).status).toBe(400);
    expect(broker.posted.map(({ path }) => path)).toEqual(["/v1/par"]);
    expect((await request(address)).status).toBe(303);
    expect((await request(address)).status).toBe(400);
    expect(broker.posted.map(({ path }) => path)).toEqual(["/v1/par", "/v1/token"]);
  });

  it("does not redeem a code that another issuer sent", async () => {
    broker.callbackMembers = { ...broker.callbackMembers, iss: "https://other.example" };
    expect(await connect()).toContain("invalid_response");
    expect(broker.posted.map(({ path }) => path)).toEqual(["/v1/par"]);
  });
});

describe("problems are shown with code, sentence and flow", () => {
  it("a cancel", async () => {
    broker.callbackMembers = {
      error: "access_denied",
      error_description: "The user cancelled at the vendor",
      iss: broker.url,
      flow_id: "flow-2",
    };
    const shown = await connect();
    for (const part of [
      "access_denied",
      "The user cancelled at the vendor",
      "flow-2",
      "You cancelled",
      "PKCE of flow-2",
      "Connect again",
    ])
      expect(shown).toContain(part);
  });

  it.each([
    [
      "a refused code",
      { status: 400, body: { error: "invalid_grant", error_description: "Gone", flow_id: "flow-3" } },
      ["invalid_grant", "Gone", "flow-3"],
    ],
    [
      "an outage",
      { status: 503, body: { error: "temporarily_unavailable", error_description: "Vendor down" } },
      ["temporarily_unavailable", "Vendor down"],
    ],
    ["an answer that is none", { status: 200, body: {} }, ["invalid_response"]],
  ])("%s", async (_name, answer, parts) => {
    broker.tokenAnswer = answer;
    const shown = await connect();
    for (const part of parts) expect(shown).toContain(part);
  });

  it("a broker that is not there", async () => {
    await page();
    await broker.close();
    expect(await press("/connect")).toContain("The broker could not be reached");
    broker = await startFakeBroker();
  });

  it("without a tag of the other side's making", async () => {
    broker.tokenAnswer = {
      status: 400,
      body: { error: "invalid_grant", error_description: "<script>alert(1)</script>" },
    };
    expect(await connect()).not.toContain("<script");
  });
});

describe("refresh and revoke", () => {
  it("sends the refresh token with its connection and shows what came", async () => {
    await connect();
    broker.tokenAnswer = {
      status: 200,
      body: { ...TOKENS, access_token: "second-token", refresh_token: "second-refresh" },
    };
    const shown = await press("/refresh");
    expect(Object.fromEntries(broker.posted.at(-1)?.form ?? [])).toMatchObject({
      grant_type: "refresh_token",
      refresh_token: TOKENS.refresh_token,
      connection: TOKENS.connection,
    });
    for (const part of ["second…", "rotated"]) expect(shown).toContain(part);
  });

  it.each(["access_token", "refresh_token"] as const)(
    "revokes the %s and then shows that refresh is refused",
    async (which) => {
      await connect();
      const shown = await press("/revoke", { token: which });
      expect(Object.fromEntries(broker.posted.at(-1)?.form ?? [])).toMatchObject({
        token: TOKENS[which],
        token_type_hint: which,
        connection: TOKENS.connection,
      });
      for (const part of ["revoked", "(grant)"]) expect(shown).toContain(part);
      broker.tokenAnswer = { status: 400, body: { error: "invalid_grant", error_description: "The vendor refused" } };
      for (const part of ["invalid_grant", "The vendor refused"]) expect(await press("/refresh")).toContain(part);
    },
  );

  it("starts over with another session", async () => {
    await connect();
    const before = visitor.cookieJar.header(new URL(platform.url));
    const shown = await press("/start-over");
    expect(shown).toContain("Connect a vendor through the broker");
    expect(visitor.cookieJar.header(new URL(platform.url))).not.toBe(before);
  });
});

describe("the page's own protection", () => {
  it.each(["/connect", "/show", "/refresh", "/revoke", "/start-over"])(
    "refuses %s without this session's token",
    async (path) => {
      await connect();
      const count = broker.posted.length;
      expect((await request(path, { csrf: "wrong" })).status).toBe(403);
      expect((await request(path, {})).status).toBe(403);
      expect(broker.posted).toHaveLength(count);
    },
  );

  it("has no script, cannot be framed and lets forms leave for loopback only", async () => {
    const answer = await request("/");
    const policy = answer.headers.get("Content-Security-Policy") ?? "";
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' http:\/\/127\.0\.0\.1:\* http:\/\/localhost:\*;/,
    );
    expect(policy).toContain("frame-ancestors 'none'");
    expect(await answer.text()).not.toMatch(/<script|\son\w+=|style="/);
  });

  it("allows exactly its own stylesheet", async () => {
    const answer = await request("/");
    const style = /<style>([\s\S]*)<\/style>/.exec(await answer.text())?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(answer.headers.get("Content-Security-Policy")).toContain(`style-src 'sha256-${hash}'`);
  });

  it("keeps its session cookie from scripts and from other sites' forms", async () => {
    const [cookie] = (await request("/")).headers.getSetCookie();
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Lax/);
  });

  it("answers to its own address only", async () => {
    const statusFor = async (host: string): Promise<number | undefined> => {
      const [answer]: IncomingMessage[] = await once(get(platform.url, { headers: { host } }), "response");
      answer?.resume();
      return answer?.statusCode;
    };
    expect(await statusFor(new URL(platform.url).host)).toBe(200);
    expect(await statusFor(`rebound.example:${new URL(platform.url).port}`)).toBe(403);
  });
});
