/**
 * Attacker: holds one of our values that is valid for one purpose and tries it for another: a state
 * as a session, a request_uri as a code, a connection as a refresh token. Defence: each kind has
 * its own key, its own format or its own place in the record. No single function can be switched
 * off, so there is no twin; the diagonal, where each value is accepted for its own purpose, shows
 * that the table can fail.
 */
import { describe, expect, it } from "vitest";
import { createClientKeys } from "../support/broker/client-keys.ts";
import { atCallback, encode, type Form, locationOf, openScene, parameter } from "./support/actors.ts";
import { clientsOf } from "./support/fixture.ts";
import { BASE_URL, CALLBACK, FORM, HONEST, NOW, PLATFORMS } from "./support/names.ts";

const REQUEST_URI = "urn:ietf:params:oauth:request_uri:";

/** One fixture, and one fresh value of every kind, none of them used yet. */
async function setUp() {
  const { jwks, sign } = await createClientKeys("first");
  const keyed = {
    client_id: "keyed",
    jwks: JSON.parse(jwks) as object,
    redirect_uris: [PLATFORMS.platform.redirectUri],
  };
  const {
    fixture,
    honest,
    backend,
    victim: browser,
  } = await openScene({ config: { clients: [...clientsOf(), keyed] } });

  /** A flow before the callback, and one that is back at the platform. */
  const started = async () => {
    const { flow, url } = await backend.start(browser, atCallback);
    return { flow, url, cookie: browser.jar.get(new URL(CALLBACK), `__Host-flow-${flow.flowId}`) ?? "" };
  };
  const parked = async () => {
    const { flow, url } = await started();
    return { flow, vendorCode: parameter(url, "code"), code: parameter((await browser.visit(url)).url, "code") };
  };
  const connected = async () => (await backend.connect(browser)).body;
  const assertion = async () => {
    const jti = String(fixture.exchanges.length);
    return sign({ jti, iss: "keyed", sub: "keyed", aud: BASE_URL, iat: NOW, exp: NOW + 60 });
  };
  const pushed = async () => (await backend.push()).requestUri;

  /** Created again for each try, since a try may spend it. */
  const kinds = {
    state: async () => parameter((await started()).url, "state"),
    request_uri: pushed,
    "handle of a request_uri": async () => (await pushed()).slice(REQUEST_URI.length),
    code: async () => (await parked()).code,
    "vendor's code": async () => (await parked()).vendorCode,
    code_verifier: async () => (await parked()).flow.codeVerifier,
    connection: async () => (await connected())["connection"] ?? "",
    "access token": async () => (await connected())["access_token"] ?? "",
    "refresh token": async () => (await connected())["refresh_token"] ?? "",
    "cookie value": async () => (await started()).cookie,
    "client assertion": assertion,
    "client secret": async () => PLATFORMS.platform.secret,
    "flow id": async () => (await pushed()).slice(REQUEST_URI.length).split(".")[0] ?? "",
  };
  return { fixture, honest, backend, browser, started, parked, connected, kinds };
}

type Harness = Awaited<ReturnType<typeof setUp>>;
type Kind = keyof Harness["kinds"];

/**
 * Puts a value where a kind of value is expected, everything else valid.
 * @returns the status
 */
type Place = (harness: Harness, value: string) => Promise<number>;

/** Without Basic credentials. */
async function bare({ fixture }: Harness, path: string, members: Form): Promise<number> {
  return (await fixture.request(path, { method: "POST", headers: FORM, body: encode(members) })).status;
}

const EXPLAIN = { vendor: "honest" };

const PLACES: Readonly<Record<string, readonly [due: readonly Kind[], place: Place]>> = {
  "request_uri at /v1/authorize": [
    ["request_uri"],
    async ({ browser, backend }, value) => statusOf(await browser.visit(backend.startUrl({ requestUri: value }))),
  ],
  "request_uri at /v1/authorize, after the prefix": [
    ["handle of a request_uri"],
    async ({ browser, backend }, value) =>
      statusOf(await browser.visit(backend.startUrl({ requestUri: REQUEST_URI + value }))),
  ],
  "state at /v1/callback": [
    ["state"],
    async ({ browser }, value) => {
      const query = encode({ state: value, code: "some-code", iss: HONEST });
      return statusOf(await browser.visit(new URL(`${CALLBACK}?${query}`)));
    },
  ],
  "cookie at /v1/callback": [
    [],
    async ({ fixture, started }, value) => {
      const { flow, url } = await started();
      return (await fixture.request(url, { headers: { cookie: `__Host-flow-${flow.flowId}=${value}` } })).status;
    },
  ],
  "code at /v1/token": [
    [],
    async (harness, value) => {
      const { flow } = await harness.parked();
      return (await harness.backend.redeem(value, flow.codeVerifier)).status;
    },
  ],
  "code_verifier at /v1/token": [
    [],
    async (harness, value) => (await harness.backend.redeem((await harness.parked()).code, value)).status,
  ],
  "refresh_token at /v1/token": [
    ["refresh token"],
    async ({ backend }, value) => (await backend.refresh({ refreshToken: value }, { vendor: "honest" })).status,
  ],
  "connection at /v1/token": [
    ["connection"],
    async ({ backend, connected }, value) => {
      const refreshToken = (await connected())["refresh_token"];
      return (await backend.refresh({ refreshToken, connection: value })).status;
    },
  ],
  "connection at /v1/explain": [
    ["connection"],
    async ({ backend }, value) => (await backend.post("/v1/explain", { connection: value })).status,
  ],
  "client_assertion at /v1/explain": [
    ["client assertion"],
    async (harness, value) =>
      bare(harness, "/v1/explain", {
        ...EXPLAIN,
        client_assertion: value,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      }),
  ],
  "client_secret at /v1/explain": [
    ["client secret"],
    async (harness, value) => bare(harness, "/v1/explain", { ...EXPLAIN, client_id: "platform", client_secret: value }),
  ],
  "Basic credentials at /v1/explain": [
    ["client secret"],
    async ({ fixture }, value) => {
      const headers = { authorization: `Basic ${btoa(`platform:${value}`)}`, ...FORM };
      return (await fixture.request("/v1/explain", { method: "POST", headers, body: encode(EXPLAIN) })).status;
    },
  ],
};

/** 303 when the browser was redirected, whatever happened later. */
function statusOf({ page }: { readonly page?: { readonly status: number } }): number {
  return page?.status ?? 303;
}

describe("bar#CB-5 every kind of value in every place that takes one", () => {
  it.each(Object.entries(PLACES))("%s accepts only the value that is due there", async (_name, [due, place]) => {
    const harness = await setUp();
    const taken: string[] = [];
    const faults: string[] = [];
    for (const [kind, make] of Object.entries(harness.kinds)) {
      const status = await place(harness, await make());
      if (status < 400) taken.push(kind);
      if (status >= 500) faults.push(`${kind}: ${status}`);
    }
    expect(taken).toEqual(due);
    expect(faults).toEqual([]);
  });

  it("takes only the cookie, code and verifier of that flow", async () => {
    const harness = await setUp();
    const { flow, url, cookie } = await harness.started();
    const headers = { cookie: `__Host-flow-${flow.flowId}=${cookie}` };
    const answer = await harness.fixture.request(url, { headers });
    const code = parameter(locationOf(answer), "code");
    expect((await harness.backend.redeem(code, flow.codeVerifier)).status).toBe(200);
  });

  it("sends the vendor only refresh tokens where those are due, and the vendor's own codes", async () => {
    const harness = await setUp();
    const ours = [harness.kinds.state, harness.kinds.code, harness.kinds["request_uri"], harness.kinds["cookie value"]];
    for (const make of ours) {
      const { flow } = await harness.parked();
      await harness.backend.redeem(await make(), flow.codeVerifier);
    }
    expect(harness.honest.tokenRequests).toEqual([]);
  });
});
