/**
 * Attacker: anyone who can open a connection. Goal: to be taken for a proxy or a health check, or
 * to read our answers from another site's page. Defence: every URL comes from configuration, every
 * route that is not on the public list authenticates, and no answer invites another origin. These
 * are absences of code, not functions, so there are no twins; each test also sends the request that
 * must pass. Bodies, heads and slow clients: e2e/scenarios/http*.test.ts.
 */
import { describe, expect, it } from "vitest";
import { BASE_URL, BASIC_FORM, CALLBACK, type Exchange, FORM } from "./support/names.ts";
import { atCallback, encode, locationOf, openScene } from "./support/actors.ts";
import { openWire } from "./support/wire.ts";

/** The public paths. Every other path that is not for browsers must refuse. */
const PUBLIC = "/ /.well-known/oauth-authorization-server /v1/vendors /healthz /readyz /metrics /openapi.json".split(
  " ",
);

async function setUp() {
  const scene = await openScene();
  return { ...scene, wire: await openWire(scene.fixture) };
}

describe("bar#HT-6 headers that claim to come from a proxy", () => {
  const FORGED = {
    host: "evil.example",
    forwarded: "for=127.0.0.1;host=evil.example;proto=http",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "http",
    "x-forwarded-port": "80",
    "x-forwarded-prefix": "/evil",
    "x-forwarded-uri": "/evil",
    "x-forwarded-for": "127.0.0.1",
    "x-real-ip": "127.0.0.1",
    "x-original-url": "/healthz",
    "x-rewrite-url": "/healthz",
    "x-host": "evil.example",
    "x-http-method-override": "GET",
  };

  it("reach no URL, cookie or page of ours, on any leg", async () => {
    const { fixture, wire, backend, victim } = await setUp();
    const send = async (path: string, cookie = ""): Promise<Exchange> =>
      wire.send({ path, headers: { ...FORGED, cookie } });
    const post = async (path: string, body: string): Promise<Exchange> =>
      wire.send({ method: "POST", path, headers: { ...FORGED, ...BASIC_FORM }, body });
    const answers: Exchange[] = [];
    const own = ["/.well-known/oauth-authorization-server", "/openapi.json", "/"];
    for (const path of [...own, "/v1/vendors", "/nowhere", "/v1/callback?state=x"]) answers.push(await send(path));
    for (const { body } of answers.slice(0, own.length)) expect(body).toContain(BASE_URL);
    answers.push(await post("/v1/explain", encode({ vendor: "honest" })));

    const flow = await backend.push();
    const started = await send(pathOf(backend.startUrl(flow)));
    expect(started.headers.getSetCookie()[0]).toMatch(/^__Host-flow-.*; Secure$/);
    victim.jar.store(new URL(CALLBACK), started.headers.getSetCookie());
    const { url } = await victim.visit(locationOf(started), atCallback);
    const finished = await send(pathOf(url), victim.jar.header(url));
    expect(finished.headers.get("location")).toContain(`iss=${encodeURIComponent(BASE_URL)}`);

    for (const { body, headers } of [...answers, started, finished]) {
      expect(`${JSON.stringify([...headers])}${body}`).not.toMatch(/evil|http:\/\/broker/);
    }
    expect(JSON.parse(answers[0]?.body ?? "{}")).toMatchObject({ issuer: BASE_URL });
    expect(fixture.vendors[0]?.codes).toHaveLength(1);
  });
});

function pathOf({ pathname, search }: URL): string {
  return pathname + search;
}

describe("bar#HT-7 requests without credentials", () => {
  it("get only what is public, on every route by every method", async () => {
    const { fixture } = await setUp();
    const open = new Set<string>();
    for (const route of new Set(fixture.broker.app.routes.map(({ path }) => path))) {
      for (const method of ["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE2"]) {
        const body = method === "GET" || method === "HEAD" ? {} : { body: "a=b", headers: FORM };
        const { status } = await fixture.request(route.replaceAll(/:\w+/g, "honest"), { method, ...body });
        if (status < 400) open.add(`${status} ${route}`);
      }
    }
    // A form_post answer is returned to the browser unread.
    const others = ["200 /v1/vendors/:id", "204 /favicon.ico", "303 /v1/callback"];
    expect(open).toEqual(new Set([...PUBLIC.map((path) => `200 ${path}`), ...others]));
  });

  it("get no further by spelling the path otherwise, or by calling themselves a health check", async () => {
    const { wire } = await setUp();
    const body = encode({ grant_type: "refresh_token", refresh_token: "x", vendor: "honest", client_id: "platform" });
    const tricks = (path: string): string[] => [
      path,
      `/${path}`,
      `${path}/`,
      `${path}?`,
      `${path}?/healthz`,
      `${path};/healthz`,
      `${path}%2f..%2f..%2fhealthz`,
      `/healthz/..${path}`,
      `/healthz/%2e%2e${path}`,
      `/healthz%2f..${path}`,
      `${path}%2fhealthz`,
      `${path}/../../healthz/..${path}`,
      `/.${path}`,
      path.replace("/v1", "/v1/."),
      path.replace("/v1/", "/v1%2f"),
      path.replace("/v1/", "/v1//"),
      path.replace("/v1/", "/v1\\"),
      path.toUpperCase(),
      `${path}%00`,
      `${path}.json`,
      `${path}#/healthz`,
      `http://localhost${path}`,
    ];
    const agents = [undefined, "kube-probe/1.31", "ELB-HealthChecker/2.0", "GoogleHC/1.0", "Prometheus/3.0"];
    const open: string[] = [];
    for (const path of "/v1/par /v1/token /v1/revoke /v1/check /v1/explain /register".split(" ").flatMap(tricks)) {
      for (const agent of agents) {
        const type = /register/i.test(path) ? { "content-type": "application/json" } : FORM;
        const headers = { ...type, ...(agent === undefined ? {} : { "user-agent": agent }) };
        const { status } = await wire.send({ method: "POST", path, headers, body });
        if (![400, 401, 404, 405, 503].includes(status)) open.push(`${path} ${agent}: ${status}`);
      }
    }
    expect(open).toEqual([]);
    const allowed = { method: "POST", path: "/v1/explain", headers: BASIC_FORM };
    expect((await wire.send({ ...allowed, body: "vendor=honest" })).status).toBe(200);
  });
});

describe("bar#HT-8 bar#HT-10 the headers of every kind of answer", () => {
  it("let no other site read it, frame it, keep it, or learn from where we came", async () => {
    const { fixture, backend, victim } = await setUp();
    const origin = { origin: "https://evil.example", "access-control-request-method": "POST" };
    await backend.start(victim);
    for (const path of ["/v1/callback", "/nowhere", ...PUBLIC, "/v1/token"]) {
      await fixture.request(path, { headers: { ...origin, accept: "text/html" } });
      await fixture.request(path, { method: "OPTIONS", headers: origin });
    }
    await backend.post("/v1/token", { grant_type: "nothing" });
    for (const { headers, body } of fixture.exchanges) {
      expect([...headers.keys()].filter((name) => /^access-control-|^x-powered-by$/.test(name))).toEqual([]);
      expect(Object.fromEntries(headers)).toMatchObject({
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "strict-transport-security": expect.stringMatching(/^max-age=\d{8}/),
        "content-security-policy": expect.stringMatching(/^default-src 'none'; frame-ancestors 'none'/),
      });
      const isPage = headers.get("content-type")?.startsWith("text/html") === true;
      if (isPage)
        expect([headers.get("x-frame-options"), /<script|<img|<link|http-equiv/.test(body)]).toEqual(["DENY", false]);
    }
  });
});

it("bar#VR-8 accepts a vendor's answer without cache headers, and answers no-store itself", async () => {
  const { fixture, backend, victim } = await setUp();
  expect((await backend.connect(victim)).status).toBe(200);
  expect(fixture.exchanges.at(-1)?.headers.get("cache-control")).toBe("no-store");
});
