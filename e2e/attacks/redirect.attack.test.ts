/**
 * Attacker: controls text in a pushed request or in one of our URLs. Goal: the browser, with the
 * broker's code in its address, on the attacker's host. Defence: a redirect URI is one of the
 * client's own, character for character (verifyRedirectUri), and every other address the broker
 * redirects to comes from configuration.
 */
import * as redirectUriModule from "../../packages/oauth-core/src/authorization-server/redirect-uri.ts";
import * as answersModule from "../../packages/oauth-core/src/http/answers.ts";
import { describe, expect, it } from "vitest";
import { redirectUriNearMisses } from "../../packages/oauth-core/src/testing/corpora/redirect-uri-corpus.ts";
import { faultsOf } from "./support/every-answer.ts";
import { without } from "./support/outcomes.ts";
import { atCallback, type Backend, openScene, parameter, type Scene, withParameters } from "./support/actors.ts";
import { BASE_URL, CALLBACK, FORM, HONEST, PLATFORMS } from "./support/names.ts";

const { redirectUri } = PLATFORMS.platform;
const EVIL = "https://evil.example/take";

describe("bar#ST-2 a redirect URI that nearly is the client's", () => {
  // authorization-server/redirect-uri.test.ts has them all.
  const misses = redirectUriNearMisses(redirectUri).filter((_, index) => index % 5 === 0);

  it.each([
    ["/v1/par", (backend: Backend, redirect_uri: string) => backend.par({ redirect_uri })],
    [
      "/v1/explain",
      (backend: Backend, redirect_uri: string) => backend.post("/v1/explain", { vendor: "honest", redirect_uri }),
    ],
  ])("is refused at %s in all its forms, and nothing redirects", async (path, ask) => {
    const { fixture, backend } = await openScene();
    const taken: string[] = [];
    for (const { name, uri } of misses) {
      const { status, body } = await ask(backend, uri);
      const isRefused = body["error"] === "invalid_request" && status >= 400;
      if (!isRefused && !(uri === "" && path === "/v1/explain")) taken.push(`${name}: ${status}`);
      expect(JSON.stringify(body)).not.toContain("evil.example");
    }
    expect(taken).toEqual([]);
    expect(misses.length).toBeGreaterThan(40);
    expect(fixture.exchanges.filter(({ headers }) => headers.has("location"))).toEqual([]);
  });

  it("is refused at /v1/token, and the code stays good for the right one", async () => {
    const { backend, victim } = await openScene();
    const { flow, url } = await backend.start(victim);
    const code = parameter(url, "code");
    for (const { name, uri } of misses) {
      const { status, body } = await backend.redeem(code, flow.codeVerifier, { redirect_uri: uri });
      expect(status, name).toBeGreaterThanOrEqual(400);
      expect(["invalid_grant", "invalid_request"], name).toContain(body["error"]);
    }
    expect((await backend.redeem(code, flow.codeVerifier)).status).toBe(200);
  });

  it("is refused where it is another client's, or the broker's own, or the vendor's", async () => {
    const { backend } = await openScene();
    for (const uri of [PLATFORMS.other.redirectUri, CALLBACK, `${BASE_URL}/`, `${HONEST}/authorize`]) {
      const refused = { error: "invalid_request", reason: "redirect_uri" };
      expect((await backend.par({ redirect_uri: uri })).body).toMatchObject(refused);
    }
  });

  it("bar#ST-2 twin: without verifyRedirectUri the broker's code goes to the attacker's host", async () => {
    const { backend, victim } = await openScene();
    without(redirectUriModule, ({ verifyRedirectUri }) => ({
      verifyRedirectUri: (requested) => verifyRedirectUri(requested, [requested]),
    }));
    const { url } = await backend.start(victim, undefined, { redirect_uri: EVIL });
    expect([`${url.origin}${url.pathname}`, url.searchParams.has("code")]).toEqual([EVIL, true]);
  });
});

/** Parameters that other software reads a redirect target from. */
const DESTINATIONS =
  `redirect_uri redirect redirect_url redirectUrl return returnTo return_to return_url returnUrl next url
  u continue dest destination target goto forward callback callback_url post_logout_redirect_uri initiate_login_uri
  target_link_uri iss login_hint RelayState origin referrer client_uri error_uri expo-redirect to rurl`.split(/\s+/);

describe("bar#CB-14 where browsers are sent", () => {
  /** Every outcome a browser may meet, in both ways a vendor may answer. */
  async function crawl({ fixture, backend, victim }: Scene): Promise<void> {
    const outcome = async (change: (url: URL) => URL, method = "GET", form = {}): Promise<void> => {
      const { url } = await backend.start(victim, atCallback, form);
      const answer = change(url);
      if (method === "GET") return void (await victim.visit(answer));
      const headers = { ...FORM, origin: HONEST };
      const body = answer.search.slice(1);
      const back = await fixture.request("/v1/callback", { method: "POST", headers, body });
      const location = back.headers.get("location");
      if (location !== null) await victim.visit(new URL(location, BASE_URL));
    };
    const failed = (error: string) => (url: URL) => {
      url.searchParams.delete("code");
      return withParameters(url.href, { error, error_uri: EVIL, error_description: EVIL });
    };
    for (const method of ["GET", "POST"]) {
      await outcome((url) => url, method);
      for (const error of ["access_denied", "server_error", "invalid_client", EVIL, "temporarily_unavailable"]) {
        await outcome(failed(error), method);
      }
      await outcome((url) => withParameters(url.href, { state: EVIL }), method);
    }
    await outcome((url) => url, "GET", { state: EVIL, login_hint: EVIL, resource: EVIL, prompt: "consent" });
    for (const name of DESTINATIONS) {
      await outcome((url) => withParameters(url.href, { [name]: EVIL }), name.length % 2 === 0 ? "GET" : "POST");
      const flow = await backend.push();
      await victim.visit(withParameters(backend.startUrl(flow).href, { [name]: EVIL }));
    }
  }

  it("is the vendor, the client's own redirect URI or our callback, always by 303", async () => {
    const harness = await openScene();
    await crawl(harness);
    const { exchanges } = harness.fixture;
    expect(exchanges.filter(({ status }) => status === 303).length).toBeGreaterThan(100);
    expect(faultsOf({ ...harness.fixture, exchanges })).toEqual([]);
  });

  it("is nowhere else for any method on any path, whatever stands in query, path and headers", async () => {
    const { fixture } = await openScene();
    const routes = new Set(fixture.broker.app.routes.map(({ path }) => path.replaceAll(/:\w+/g, "x")));
    const spellings = String.raw`//evil.example //evil.example/%2e%2e /\evil.example /%5cevil.example /@evil.example
      /v1/custom//evil.example/callback /v1//authorize /v1/authorize/ /V1/Authorize /https://evil.example
      /.well-known/../v1/authorize /v1/authorize%2f..%2f`;
    const query = DESTINATIONS.map((name) => `${name}=${encodeURIComponent(EVIL)}`).join("&");
    const headers = {
      host: "evil.example",
      origin: EVIL,
      referer: EVIL,
      "x-original-url": EVIL,
      "x-rewrite-url": EVIL,
    };
    for (const path of [...routes, ...spellings.split(/\s+/)]) {
      for (const method of ["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
        await fixture.request(`${BASE_URL}${path}?${query}`, { method, headers });
      }
    }
    expect(fixture.exchanges.filter((exchange) => exchange.headers.has("location"))).toEqual([]);
    expect(fixture.exchanges.filter(({ status }) => status >= 500 && status !== 503)).toEqual([]);
  });

  it("bar#CB-14 twin: a redirectAnswer by 307 is noticed, and carries the form along", async () => {
    const harness = await openScene();
    without(answersModule, ({ redirectAnswer }) => ({
      redirectAnswer: (...call) => ({ ...redirectAnswer(...call), status: 307 }),
    }));
    await crawl(harness);
    expect(faultsOf(harness.fixture).join("\n")).toMatch(/not a 303$/m);
  });
});
