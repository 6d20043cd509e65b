import { createHash } from "node:crypto";
import {
  callbackOf,
  createFakeBroker,
  type FakeBroker,
  PLATFORM,
  refusal,
  TOKEN_ANSWER,
} from "@oauth-broker/broker-client/testing";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { type CookieJar, createCookieJar, sendWithCookies, type VendorOffer } from "@oauth-broker/simulators";
import type { Hono } from "hono";
import { beforeEach, describe, expect, it } from "vitest";
import { createSamplePlatform } from "./app.ts";

const URL_OF_PLATFORM = "http://127.0.0.1:8789";
const OFFERS: readonly VendorOffer[] = [
  { id: "sandbox", name: "Sandbox vendor", about: "The first", request: { scope: "openid api:read", prompt: "login" } },
  {
    id: "other",
    name: "Other vendor",
    about: "The second",
    request: { scope: "read", resource: "https://mcp.other.example" },
    placeholders: [
      { name: "tenant", label: "Tenant", value: "all", choices: [{ value: "all", label: "All" }] },
      { name: "place", label: "Place", value: "first" },
    ],
  },
];
const CLAIMS = Buffer.from(JSON.stringify({ iss: "https://vendor.example", sub: "user-1" })).toString("base64url");
const ID_TOKEN = `e30.${CLAIMS}.x`;

let broker: FakeBroker;
let platform: Hono;
let visitor: Visitor;

beforeEach(() => {
  broker = createFakeBroker();
  answerToken({ vendor_id_token: ID_TOKEN });
  broker.answers.set("/v1/revoke", () => Response.json({ revoked: "grant" }));
  const { issuer: brokerUrl, clientId, clientSecret } = PLATFORM;
  platform = createSamplePlatform(
    {
      brokerUrl,
      clientId,
      clientSecret,
      vendors: () => OFFERS,
      timeline: async (flowId) => [
        { leg: "spent", at: 1_700_000_000, checks: ["code used once"] },
        { leg: "pushed", at: 1_700_000_000, checks: [`PKCE of ${flowId}`] },
      ],
    },
    URL_OF_PLATFORM,
    { fetch: broker.fetch, now: fixedClock(1_700_000_000) },
  );
  visitor = createVisitor();
});

type Fields = Readonly<Record<string, string>>;

/** A user's browser, without scripts. */
interface Visitor {
  readonly jar: CookieJar;
  request(path: string, form?: Fields): Promise<Response>;
  page(): Promise<string>;
  /** Presses the first button of that address with these fields; `typed` replaces inputs. */
  submit(action: string, having?: Fields, typed?: Fields): Promise<Response>;
  press(action: string, having?: Fields, typed?: Fields): Promise<string>;
}

function createVisitor(): Visitor {
  const jar = createCookieJar();
  const visitor: Visitor = {
    jar,
    request: async (path, form) => {
      const sent = form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) };
      const send = (url: string, init: RequestInit) => platform.request(url, init);
      return sendWithCookies(send, jar, new URL(path, URL_OF_PLATFORM), sent);
    },
    page: async () => (await visitor.request("/")).text(),
    submit: async (action, having = {}, typed = {}) => {
      const forms = (await visitor.page()).split("<form ").filter((form) => form.includes(`action="${action}"`));
      const fields = forms.map((form) =>
        Object.fromEntries([...form.matchAll(/<input[^>]*name="([^"]+)" value="([^"]*)"/g)].map(([, ...pair]) => pair)),
      );
      const found = fields.find((form) => Object.entries(having).every(([name, value]) => form[name] === value));
      return visitor.request(action, { ...found, ...typed });
    },
    press: async (...button) => {
      await visitor.submit(...button);
      return visitor.page();
    },
  };
  return visitor;
}

const answerToken = (more: object): unknown =>
  broker.answers.set("/v1/token", () => Response.json({ ...TOKEN_ANSWER, ...more }));
const refuseToken = (status: number, members: object): unknown =>
  broker.answers.set("/v1/token", refusal(status, members));
const called = (): readonly string[] => broker.asked.map(({ path }) => path).filter((path) => path.startsWith("/v1/"));
const formOf = (path: string): URLSearchParams | undefined =>
  broker.asked.findLast((asked) => asked.path === path)?.body;

/** Clicks Connect. @returns the address at which the broker would send the browser back */
async function leave(vendor = "sandbox", typed: Fields = {}, members?: Record<string, string>): Promise<string> {
  await visitor.press("/connect", { vendor }, typed);
  const { search } = callbackOf(formOf("/v1/par")?.get("state") ?? "", {
    code: "broker-code",
    flow_id: "flow-1",
    ...members,
  });
  return `/oauth/vendor-callback${search}`;
}

async function connect(vendor?: string, typed?: Fields): Promise<string> {
  await visitor.request(await leave(vendor, typed));
  return visitor.page();
}

/** As the broker sends the browser back without a code. */
async function comeBackWith(members: Record<string, string>): Promise<string> {
  await visitor.press("/connect", { vendor: "sandbox" });
  const { search } = callbackOf(formOf("/v1/par")?.get("state") ?? "", members);
  await visitor.request(`/oauth/vendor-callback${search}`);
  return visitor.page();
}

function expectAll(shown: string, parts: readonly string[]): void {
  for (const part of parts) expect(shown).toContain(part);
}

describe("connect", () => {
  it("pushes the request with PKCE and its own credentials, and sends the browser to the broker", async () => {
    const answer = await visitor.submit("/connect", { vendor: "sandbox" });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toMatch(
      /^https:\/\/broker\.example\/v1\/authorize\?client_id=platform&request_uri=/,
    );
    expect(Object.fromEntries(formOf("/v1/par") ?? [])).toMatchObject({
      response_type: "code",
      client_id: "platform",
      vendor: "sandbox",
      scope: "openid api:read",
      redirect_uri: `${URL_OF_PLATFORM}/oauth/vendor-callback`,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      state: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(broker.asked.at(-1)?.headers.get("authorization")).toMatch(/^Basic /);
  });

  it("shows the tokens masked, who signed in, and every leg in order", async () => {
    const shown = await connect();
    expectAll(shown, [
      "vendor…",
      "19 characters",
      "3600 seconds",
      "https://vendor.example",
      "user-1",
      "flow-1",
      "PKCE of flow-1",
    ]);
    expectAll(shown, ["iss is the broker", "ID token verified by the broker"]);
    const { access_token, refresh_token, connection } = TOKEN_ANSWER;
    for (const secret of [access_token, refresh_token, connection, ID_TOKEN]) expect(shown).not.toContain(secret);
    const legs = [
      "prepares the request",
      "accepts the pushed",
      "back at the platform",
      "redeems the vendor",
      "receives the tokens",
    ].map((leg) => shown.indexOf(leg));
    expect(legs).toEqual(legs.toSorted((a, b) => a - b));
    expect(legs).not.toContain(-1);
  });

  it("redeems with the verifier whose challenge was pushed", async () => {
    await connect();
    const redeemed = formOf("/v1/token");
    const digest = createHash("sha256")
      .update(redeemed?.get("code_verifier") ?? "")
      .digest("base64url");
    expect(formOf("/v1/par")?.get("code_challenge")).toBe(digest);
    expect(redeemed?.get("code")).toBe("broker-code");
  });

  it("rfc9700#4.7.1 finishes in no other browser, and only once", async () => {
    const address = await leave();
    const other = createVisitor();
    await other.page();
    expect((await other.request(address)).status).toBe(400);
    expect((await createVisitor().request(address)).status).toBe(400);
    expect(called()).toEqual(["/v1/par"]);
    expect((await visitor.request(address)).status).toBe(303);
    expect((await visitor.request(address)).status).toBe(400);
    expect(called()).toEqual(["/v1/par", "/v1/token"]);
  });

  it("is not spent by a browser that prefetches (h12)", async () => {
    const address = await leave();
    const url = new URL(address, URL_OF_PLATFORM);
    const ahead = { cookie: visitor.jar.header(url) ?? "", purpose: "prefetch" };
    expect((await platform.request(url.href, { headers: ahead })).status).toBe(403);
    expect(called()).toEqual(["/v1/par"]);
    expect((await visitor.request(address)).status).toBe(303);
    expect(called()).toEqual(["/v1/par", "/v1/token"]);
  });

  it("does not redeem a code that another issuer sent, and claims no check of it", async () => {
    const shown = await comeBackWith({ code: "broker-code", iss: "https://other.example" });
    expect(shown).toContain("invalid_callback");
    expect(shown).not.toContain("iss is the broker");
    expect(called()).toEqual(["/v1/par"]);
  });
});

describe("problems are shown with code, sentence and flow", () => {
  it("a cancel", async () => {
    const shown = await comeBackWith({
      error: "access_denied",
      error_description: "The user cancelled at the vendor",
      flow_id: "flow-2",
    });
    expectAll(shown, ["access_denied", "The user cancelled at the vendor", "flow-2", "You cancelled"]);
    expectAll(shown, ["PKCE of flow-2", "Connect Sandbox vendor again"]);
  });

  it("a refusal that is no cancel", async () => {
    const shown = await comeBackWith({
      error: "access_denied",
      error_description: "An administrator must assign the user first",
      reason: "user_not_assigned",
    });
    expectAll(shown, ["access_denied", "An administrator must assign the user first", "The vendor refused"]);
    expect(shown).not.toContain("You cancelled");
  });

  it.each([
    [
      "a refused code",
      refusal(400, { error: "invalid_grant", error_description: "Gone", flow_id: "flow-3" }),
      ["invalid_grant", "Gone", "flow-3", "iss is the broker"],
    ],
    [
      "an outage",
      refusal(503, { error: "temporarily_unavailable", error_description: "Vendor down" }),
      ["temporarily_unavailable", "Vendor down"],
    ],
    ["an answer without tokens", () => Response.json({}), ["invalid_response"]],
  ])("%s", async (_name, answer, parts) => {
    broker.answers.set("/v1/token", answer);
    expectAll(await connect(), parts);
  });

  it("a broker that is not there", async () => {
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    const failed = new TypeError("fetch failed", { cause: refused });
    broker.answers.set("/.well-known/oauth-authorization-server", () => Promise.reject(failed));
    expectAll(await visitor.press("/connect"), ["temporarily_unavailable", "The broker cannot be reached"]);
  });

  it("without a tag of the other side's making", async () => {
    refuseToken(400, { error: "invalid_grant", error_description: "<script>alert(1)</script>" });
    expect(await connect()).not.toContain("<script");
  });
});

describe("refresh and revoke", () => {
  it("sends the refresh token with its connection and shows what came", async () => {
    await connect();
    answerToken({ access_token: "second-token", refresh_token: "second-refresh" });
    const shown = await visitor.press("/refresh");
    expect(Object.fromEntries(formOf("/v1/token") ?? [])).toMatchObject({
      grant_type: "refresh_token",
      refresh_token: TOKEN_ANSWER.refresh_token,
      connection: TOKEN_ANSWER.connection,
    });
    expectAll(shown, ["second…", "rotated"]);
  });

  it.each(["access_token", "refresh_token"] as const)(
    "revokes the %s and then shows that refresh is refused",
    async (which) => {
      await connect();
      const shown = await visitor.press("/revoke", { token: which });
      expect(Object.fromEntries(formOf("/v1/revoke") ?? [])).toMatchObject({
        token: TOKEN_ANSWER[which],
        token_type_hint: which,
        connection: TOKEN_ANSWER.connection,
      });
      expectAll(shown, ["revoked", "(grant)"]);
      refuseToken(400, { error: "invalid_grant", error_description: "The vendor refused" });
      expectAll(await visitor.press("/refresh"), ["invalid_grant", "The vendor refused"]);
    },
  );

  it("shows what the user can do where a vendor cannot revoke", async () => {
    await connect("other");
    const refused = { error: "unsupported_token_type", error_description: "No way", help: "Open the settings there" };
    broker.answers.set("/v1/revoke", refusal(400, refused));
    const shown = await visitor.press("/revoke", { token: "access_token" });
    expectAll(shown, ["unsupported_token_type", "No way", "Open the settings there"]);
    expect(shown).not.toContain(">revoked<");
  });

  it("starts over with another session", async () => {
    await connect();
    const before = visitor.jar.header(new URL(URL_OF_PLATFORM));
    expect(await visitor.press("/start-over")).toContain("Connect a vendor through the broker");
    expect(visitor.jar.header(new URL(URL_OF_PLATFORM))).not.toBe(before);
  });
});

describe("several vendors", () => {
  it("offers each by name, and pushes what it needs with the values that work", async () => {
    expectAll(await visitor.page(), ["Connect Sandbox vendor", "Connect Other vendor", "The second", "Tenant"]);
    await connect("other");
    const form = Object.fromEntries(formOf("/v1/par") ?? []);
    expect(form).toMatchObject({ vendor: "other", scope: "read", resource: "https://mcp.other.example" });
    expect(JSON.parse(form["placeholders"] ?? "")).toEqual({ tenant: "all", place: "first" });
    await connect("sandbox");
    expect(formOf("/v1/par")?.has("placeholders")).toBe(false);
    expect(formOf("/v1/par")?.get("prompt")).toBe("login");
  });

  it("pushes what was typed, and what works where nothing was", async () => {
    await connect("other", { "placeholder.place": " second ", "placeholder.tenant": "" });
    const placeholders = formOf("/v1/par")?.get("placeholders") ?? "";
    expect(JSON.parse(placeholders)).toEqual({ tenant: "all", place: "second" });
  });

  it("keeps the tokens of both, shows the last and can show the other again", async () => {
    await connect("sandbox");
    answerToken({ access_token: "another-token", refresh_token: "another-refresh", connection: "other-connection" });
    expect(await connect("other")).toContain("anothe…");
    expect(await visitor.page()).not.toContain("vendor…");
    expect(await visitor.press("/show", { vendor: "sandbox" })).toContain("vendor…");
    await visitor.press("/revoke", { vendor: "sandbox", token: "access_token" });
    expect(formOf("/v1/revoke")?.get("connection")).toBe(TOKEN_ANSWER.connection);
    await visitor.press("/show", { vendor: "other" });
    await visitor.press("/refresh", { vendor: "other" });
    expect(formOf("/v1/token")?.get("connection")).toBe("other-connection");
  });

  it("shows what else the vendor said", async () => {
    answerToken({ vendor_data: { team: { id: "<T1>" } } });
    const shown = await connect("other");
    expect(shown).toContain("&lt;T1&gt;");
    expect(shown).not.toContain("<T1>");
  });

  it("begins nothing at a vendor it does not have", async () => {
    await visitor.press("/connect", {}, { vendor: "unknown" });
    expect(broker.asked).toEqual([]);
  });
});

describe("the page's own protection", () => {
  it.each(["/connect", "/show", "/refresh", "/revoke", "/start-over"])(
    "refuses %s without its form's token",
    async (path) => {
      await connect();
      const count = broker.asked.length;
      const [, ofAnother = ""] = /name="csrf" value="([^"]+)"/.exec(await createVisitor().page()) ?? [];
      for (const form of [{ csrf: "wrong" }, { csrf: ofAnother }, {}]) {
        expect((await visitor.request(path, form)).status).toBe(403);
      }
      expect(broker.asked).toHaveLength(count);
    },
  );

  it("has no script, cannot be framed and lets forms leave for loopback only", async () => {
    const answer = await visitor.request("/");
    const policy = answer.headers.get("Content-Security-Policy") ?? "";
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' http:\/\/127\.0\.0\.1:\* http:\/\/localhost:\*;/,
    );
    expect(policy).toContain("frame-ancestors 'none'");
    expect(await answer.text()).not.toMatch(/<script|\son\w+=|style="/);
  });

  it("allows exactly its own stylesheet", async () => {
    const answer = await visitor.request("/");
    const style = /<style>([\s\S]*)<\/style>/.exec(await answer.text())?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(answer.headers.get("Content-Security-Policy")).toContain(`style-src 'sha256-${hash}'`);
  });

  it("keeps its session cookie from scripts and from other sites' forms", async () => {
    const [cookie] = (await visitor.request("/")).headers.getSetCookie();
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Lax/);
  });

  it("answers to its own address only", async () => {
    expect((await platform.request(URL_OF_PLATFORM)).status).toBe(200);
    expect((await platform.request("http://rebound.example:8789")).status).toBe(403);
  });
});
