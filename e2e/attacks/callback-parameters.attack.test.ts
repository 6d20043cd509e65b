/**
 * Attacker: anyone who can open our callback, and a vendor. Goal: to have text shown, relayed or
 * acted on, or the browser sent elsewhere. Defence: only listed parameters of a vendor's answer are
 * read, and only an error code, limited to its characters, is repeated. Several layers enforce this
 * (requireOneOutcome and mapCallbackError, the form encoding of redirectUrl). No single function
 * would let an attack through, so there are no twins; the answers that pass show that the table can
 * fail.
 */
import { describe, expect, it } from "vitest";
import { BASE_URL, CALLBACK, type Exchange, HONEST, PLATFORMS, VENDOR_CLIENT } from "./support/names.ts";
import { atCallback, type Flow, locationOf, openScene, parameter } from "./support/actors.ts";
import { createSeeded, type Seeded } from "../support/seeded.ts";

async function setUp() {
  const scene = await openScene();
  return { ...scene, toCallback: () => scene.backend.start(scene.victim, atCallback) };
}

describe("bar#CB-11 an answer that is not one code or one error", () => {
  it.each([
    ["two codes", (query: URLSearchParams) => query.append("code", "another")],
    ["a code of 8 KB", (query: URLSearchParams) => query.set("code", "c".repeat(8192))],
    ["a code and an error", (query: URLSearchParams) => query.set("error", "access_denied")],
    ["an access token", (query: URLSearchParams) => query.set("access_token", "planted")],
    ["an ID token", (query: URLSearchParams) => query.set("id_token", "planted")],
    ["a profile", (query: URLSearchParams) => query.set("profile", '{"sub":"admin"}')],
    ["a user", (query: URLSearchParams) => query.set("user", '{"name":"admin"}')],
  ])("is refused with %s, and the vendor is not asked", async (_what, change) => {
    const { honest, victim, toCallback } = await setUp();
    const { url } = await toCallback();
    const code = parameter(url, "code");
    change(url.searchParams);
    const { page } = await victim.visit(url);
    expect(page?.status).toBe(400);
    expect(page?.body).toMatch(/malformed_response|invalid_request/);
    expect(page?.body).not.toMatch(new RegExp(`planted|admin|${code}`));
    expect(honest.tokenRequests).toEqual([]);
  });

  it.each([
    ["is absent", (query: URLSearchParams) => query.delete("code")],
    ["is empty", (query: URLSearchParams) => query.set("code", "")],
  ])("gives the client an error and no code where the code %s, and the vendor is not asked", async (_what, change) => {
    const { honest, victim, toCallback } = await setUp();
    const { url } = await toCallback();
    change(url.searchParams);
    url.searchParams.set("error_code", "1349003\u202e<script>");
    const back = (await victim.visit(url)).url.searchParams;
    expect([back.get("error"), back.get("code")]).toEqual(["server_error", null]);
    expect(back.get("vendor_error")).toMatch(/^1349003 *<script>$/);
    expect(honest.tokenRequests).toEqual([]);
  });

  it("may carry parameters that vendors add, which are not read", async () => {
    const { victim, toCallback } = await setUp();
    const { url } = await toCallback();
    for (const name of ["session_state", "scope", "authuser", "prompt", "hd", "sub", "email"]) {
      url.searchParams.set(name, "someone-else");
    }
    const back = await victim.visit(url);
    expect([...back.url.searchParams.keys()].toSorted()).toEqual(["code", "flow_id", "iss", "state"]);
  });
});

describe("bar#CB-10 what a vendor says about its error", () => {
  const TEXTS = [
    "\r\nSet-Cookie: evil=1",
    "\r\n\r\n<script>alert(1)</script>",
    '"quoted" \\ and <b>bold</b>',
    "\u0000nul",
    "\u202eright to left é ü \u{1f600}",
    "x".repeat(100_000),
    "%0d%0aLocation: https://evil.example",
    "error=&code=evil&state=evil",
  ];

  it.each(["error_description", "error_uri", "error"])(
    "is not passed on in %s, and never breaks the answer",
    async (name) => {
      const { victim, toCallback } = await setUp();
      for (const text of TEXTS) {
        const { url, flow } = await toCallback();
        url.searchParams.delete("code");
        url.searchParams.set("error", "server_error");
        url.searchParams.set(name, text);
        const { page, url: back } = await victim.visit(url);
        if (page !== undefined) {
          expect(page.status).toBe(400);
          expect(page.body).not.toMatch(/evil|<script>|<b>|quoted/);
          continue;
        }
        expect(back.href).toMatch(/^https:\/\/platform\.example\/oauth\/back\?[\x21-\x7e]{1,1200}$/);
        expect(back.searchParams.get("state")).toBe(flow.state);
        expect(back.searchParams.get("error_description")).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]{1,512}$/);
        expect(back.searchParams.get("error_description")).not.toMatch(/evil|script|bold|xxx/);
        expect(back.searchParams.get("vendor_error") ?? "").toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]{0,512}$/);
        expect([...back.searchParams.keys()].length).toBe(new Set(back.searchParams.keys()).size);
      }
    },
  );

  it.each(["%", "%ff", "%c0%ae", "%00", "%zz", "a%0d%0ab"])("survives %s, which is not text", async (raw) => {
    const { fixture, victim, toCallback } = await setUp();
    const { url } = await toCallback();
    const [state, iss] = [parameter(url, "state"), parameter(url, "iss")];
    const query = new URLSearchParams({ state, iss, error: "access_denied" });
    const headers = { cookie: victim.jar.header(url) ?? "" };
    const answer = await fixture.request(`/v1/callback?${query.toString()}&error_description=${raw}`, { headers });
    expect(answer.status).toBe(303);
    expect(locationOf(answer).searchParams.get("error")).toBe("access_denied");
  });
});

/**
 * Names that have a meaning in frameworks, proxies and other OAuth servers, and names that are
 * easily misread.
 */
const NAMES =
  `redirect_uri state redirect return_to returnTo next url u dest callback callback_url client_id request_uri
  response_type response_mode scope nonce code_challenge code_verifier login_hint prompt vendor connection context flow_id
  authuser hd session_state sub email _method X-HTTP-Method-Override utm_source expo-redirect RelayState SAMLResponse ticket
  jwt token csrf debug format jsonp __proto__ constructor a[b] a.b`.split(/\s+/);
const HEADERS = `x-forwarded-host x-forwarded-proto x-forwarded-port x-forwarded-prefix x-forwarded-uri x-forwarded-for
  x-original-url x-rewrite-url x-host x-real-ip forwarded origin referer host x-http-method-override x-method-override
  true-client-ip cf-connecting-ip via accept-language user-agent content-type authorization x-flow-id`.split(/\s+/);
const VALUES = `https://evil.example/take //evil.example evil.example http for=127.0.0.1;host=evil.example;proto=http
  /v1/callback/../../evil javascript:alert(1) null POST %0d%0aLocation:%20https://evil.example ${"1".repeat(500)} `.split(
  /\s+/,
);

/**
 * Foreign parameters, cookies and headers around a valid request; never the few names that are
 * read.
 */
function noise(
  seeded: Seeded,
  read: readonly string[],
): { query: string; headers: Record<string, string>; cookies: string[] } {
  const names = seeded.shuffled(NAMES.filter((name) => !read.includes(name))).slice(0, seeded.below(6));
  const headers = seeded.shuffled(HEADERS).slice(0, seeded.below(5));
  const cookies = Array.from({ length: seeded.below(4) }, () => {
    const own = `__Host-flow-${seeded.text("abcXYZ019_-", 22)}`;
    const name = seeded.pick([own, "session", "flow-", "redirect_uri", "__Secure-next"]);
    return `${name}=${seeded.pick(VALUES).replaceAll(/[;,\s]/g, "")}`;
  });
  return {
    query: names.map((name) => `&${encodeURIComponent(name)}=${encodeURIComponent(seeded.pick(VALUES))}`).join(""),
    headers: Object.fromEntries(headers.map((name) => [name, seeded.pick(VALUES)])),
    cookies,
  };
}

describe("bar#CB-11 bar#HT-6 noise around a good request", () => {
  const ROUNDS = 100;

  it("does not change where /v1/authorize sends the browser, or with which parameters", async () => {
    const { fixture, backend } = await setUp();
    const seeded = createSeeded(11);
    for (let round = 0; round < ROUNDS; round += 1) {
      const flow = await backend.push();
      const { query, headers, cookies } = noise(seeded, ["client_id", "request_uri"]);
      const url = `${backend.startUrl(flow).href}${query}`;
      const answer = await fixture.request(url, { headers: { ...headers, cookie: cookies.join("; ") } });
      expectTo(answer, `${HONEST}/authorize`, {
        response_type: "code",
        client_id: VENDOR_CLIENT.clientId,
        redirect_uri: CALLBACK,
        scope: "read",
        state: expect.any(String),
        code_challenge: expect.any(String),
        code_challenge_method: "S256",
      });
      expect(answer.headers.getSetCookie()[0]).toMatch(/^__Host-flow-.*; Secure$/);
    }
  });

  it("does not change where /v1/callback sends the browser, or with which parameters", async () => {
    const { fixture, victim, toCallback } = await setUp();
    const seeded = createSeeded(12);
    for (let round = 0; round < ROUNDS; round += 1) {
      const { url, flow } = await toCallback();
      const { query, headers, cookies } = noise(seeded, ["code", "state", "iss", "error"]);
      const own = `__Host-flow-${flow.flowId}=${victim.jar.get(url, `__Host-flow-${flow.flowId}`)}`;
      const cookie = seeded.shuffled([...cookies, own]).join("; ");
      expectBack(await fixture.request(`${url.href}${query}`, { headers: { ...headers, cookie } }), flow);
    }
  });

  function expectBack(answer: Exchange, { state, flowId }: Flow): void {
    const { redirectUri } = PLATFORMS.platform;
    expectTo(answer, redirectUri, { code: expect.any(String), state, iss: BASE_URL, flow_id: flowId });
  }

  function expectTo({ status, headers }: Exchange, place: string, parameters: object): void {
    const url = new URL(headers.get("location") ?? "about:blank");
    expect([status, `${url.origin}${url.pathname}${url.hash}`]).toEqual([303, place]);
    expect(Object.fromEntries(url.searchParams)).toEqual(parameters);
    expect(url.searchParams.size).toBe(Object.keys(parameters).length);
  }
});
