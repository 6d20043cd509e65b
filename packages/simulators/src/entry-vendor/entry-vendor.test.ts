/** The simulated vendor on its own: that it refuses is what makes a proof against it one. */
import { describe, expect, it } from "vitest";
import {
  accountUser,
  type AccountWitness,
  mutantsOf,
  readEntries,
  readEntry,
  startEntryProxy,
  createEntryVendor,
} from "./index.ts";
import { misfits, sampleValues } from "./placeholders.ts";

const CLIENT = {
  clientId: "ours",
  clientSecret: "a secret",
  redirectUri: "https://broker.example/cb",
};
const VENDOR = {
  id: "acme",
  name: "Acme",
  authorizationEndpoint: "https://acme.example/authorize",
  tokenEndpoint: "https://acme.example/token",
};
const AUTHORIZE = {
  response_type: "code",
  client_id: "ours",
  redirect_uri: CLIENT.redirectUri,
  scope: "sample.read sample.write",
  state: "s",
  code_challenge: "c",
  code_challenge_method: "S256",
};

function vendorWith(facts: object, placeholders = {}, witness?: AccountWitness) {
  let now = 1_700_000_000;
  const entry = readEntry({ vendor: { ...VENDOR, ...facts }, placeholders }, witness);
  const vendor = createEntryVendor(entry, CLIENT, () => now);
  const send = async (method: string, url: string, headers: Record<string, string> = {}, body = "") => {
    const answer = await vendor.handle({ method, url: new URL(url), headers: new Headers(headers), body });
    if (answer === undefined) throw new Error("the connection was cut");
    return answer;
  };
  return {
    vendor,
    send,
    advance: (seconds: number) => void (now += seconds),
    authorize: async (changes: Record<string, string | undefined> = {}) => {
      const parameters = Object.entries({ ...AUTHORIZE, ...changes }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      );
      return send("GET", `https://acme.example/authorize?${new URLSearchParams(parameters).toString()}`);
    },
    redeem: async (code: string, changes: Record<string, string> = {}, headers: Record<string, string> = {}) => {
      const form = { grant_type: "authorization_code", code, redirect_uri: CLIENT.redirectUri, ...changes };
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const body = new URLSearchParams(form).toString();
      return send("POST", "https://acme.example/token", { ...type, authorization: BASIC, ...headers }, body);
    },
  };
}

const BASIC = `Basic ${Buffer.from("ours:a+secret").toString("base64")}`;
const codeOf = (answer: Response): string =>
  new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";

describe("a simulated vendor at its authorization endpoint", () => {
  it.each<[string, object, Record<string, string | undefined>, string]>([
    ["no challenge", {}, { code_challenge: undefined }, "code_challenge is missing"],
    ["the plain method", {}, { code_challenge_method: "plain" }, "code_challenge_method is plain, not S256"],
    ["a challenge where the entry has no PKCE", { pkce: "none" }, {}, "no parameter code_challenge"],
    ["scopes with another separator", {}, { scope: "sample.read,sample.write" }, "no scope"],
    ["another client", {}, { client_id: "theirs" }, "client_id is not known"],
    ["another redirect URI", {}, { redirect_uri: "https://broker.example/other" }, "redirect_uri is not registered"],
    ["a parameter that the entry does not have", {}, { audience: "x" }, "no parameter audience"],
    ["no fixed parameter", { authorizationParams: { audience: "x" } }, {}, "audience is missing, not x"],
    ["the standard's name", { parameterNames: { client_id: "client_key" } }, {}, "client_key is missing"],
    ["no resource", { defaultResource: "https://api.example" }, {}, "the resource is missing"],
    ["a resource", { resource: "omit" }, { resource: "https://api.example" }, "no parameter resource"],
  ])("refuses %s", async (_, facts, changes, why) => {
    const { vendor, authorize } = vendorWith(facts);
    expect((await authorize(changes)).status).toBe(400);
    expect(vendor.refusals().join()).toContain(why);
  });

  it("sends the user back with a code, the state and what the entry adds", async () => {
    const { authorize } = vendorWith({ callbackParams: ["realm"], issuer: "https://acme.example" });
    const { searchParams } = new URL((await authorize()).headers.get("location") ?? "");
    expect(Object.fromEntries(searchParams)).toEqual({
      code: expect.any(String),
      state: "s",
      iss: "https://acme.example",
      realm: "realm of the callback",
    });
  });
});

describe("a simulated vendor at its token endpoint", () => {
  // The pair printed in rfc7636 appendix B.
  const verifier = { code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" };
  const challenge = { code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" };

  it("issues tokens once, in the entry's shape", async () => {
    const facts = { tokenResponseMember: "data", tokenResponseNames: { access_token: "accessToken" } };
    const { vendor, authorize, redeem } = vendorWith(facts);
    const code = codeOf(await authorize(challenge));
    const { data } = (await (await redeem(code, verifier)).json()) as { data: Record<string, string> };
    expect(vendor.isLive(data["accessToken"] ?? "")).toBe(true);
    expect(data).not.toHaveProperty("access_token");
    expect(await (await redeem(code, verifier)).json()).toMatchObject({ error: "invalid_grant" });
  });

  it.each<[string, object, Record<string, string>, Record<string, string>, string]>([
    ["another verifier", {}, { code_verifier: "a".repeat(43) }, {}, "code_verifier does not match"],
    ["a secret in the body", {}, { ...verifier, client_secret: "a secret" }, {}, "no parameter client_secret"],
    ["a wrong secret", {}, verifier, { authorization: "Basic b3VyczpvdGhlcg==" }, "wrong Basic credentials"],
    ["Basic", { tokenEndpointAuthMethod: "client_secret_post" }, verifier, {}, "the entry says no Basic"],
    ["a form", { tokenRequestBody: "json" }, verifier, {}, "not application/json"],
    ["another redirect URI", {}, { ...verifier, redirect_uri: "https://a.example" }, {}, "redirect_uri is not the one"],
    ["a resource", {}, { ...verifier, resource: "https://a.example" }, {}, "the resource is not the one"],
  ])("refuses %s", async (_, facts, changes, headers, why) => {
    const { vendor, authorize, redeem } = vendorWith(facts);
    const answer = await redeem(codeOf(await authorize(challenge)), changes, headers);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(vendor.refusals().join()).toContain(why);
  });

  it("refuses a code after its lifetime", async () => {
    const { authorize, redeem, advance } = vendorWith({ redeemAt: "callback" });
    const code = codeOf(await authorize(challenge));
    advance(3);
    expect(await (await redeem(code, verifier)).json()).toMatchObject({ error: "invalid_grant" });
  });
});

describe("an account", () => {
  const ENDPOINT = "https://acme.example/me?v=1";
  const open = async (account: object, witness?: AccountWitness) => {
    const known = { endpoint: ENDPOINT, method: "GET", member: "data.0", identity: ["id"], ...account };
    const { authorize, redeem, send, vendor } = vendorWith({ account: known, pkce: "none" }, {}, witness);
    const answer = await redeem(
      codeOf(await authorize({ code_challenge: undefined, code_challenge_method: undefined })),
    );
    return { send, vendor, token: ((await answer.json()) as { access_token: string }).access_token };
  };

  it.each<[string, object, (token: string) => readonly [string, Record<string, string>]]>([
    ["another scheme", { in: "header", scheme: "OAuth" }, (token) => ["", { authorization: `OAuth ${token}` }]],
    ["a header", { in: "header", name: "x-token" }, (token) => ["", { "x-token": token }]],
    ["a parameter", { in: "query", name: "t" }, (token) => [`&t=${token}`, {}]],
  ])("takes the token by %s alone, and is the first of a list", async (_, token, place) => {
    const { send, token: issued } = await open({ token });
    const [query, headers] = place(issued);
    const answer = await send("GET", ENDPOINT + query, headers);
    expect([answer.status, await answer.json()]).toEqual([200, { data: [{ id: "id of the user" }] }]);
    const bearer = await send("GET", ENDPOINT, { authorization: `Bearer ${issued}` });
    const both = await send("GET", ENDPOINT + query, { authorization: `Bearer ${issued}`, ...headers });
    expect(bearer.status).toBe(401);
    if (!("authorization" in headers)) expect(both.status).toBe(401);
  });

  it("is answered as a witness has seen it, whatever the entry says of it", async () => {
    const witness = { body: { user: { gid: "7" } }, user: "7" };
    const { send, token } = await open({}, witness);
    const answer = await send("GET", ENDPOINT, { authorization: `Bearer ${token}` });
    expect(await answer.json()).toEqual(witness.body);
    const account = { endpoint: ENDPOINT, method: "GET", identity: ["id"] };
    expect(accountUser(readEntry({ vendor: { ...VENDOR, account } }, witness))).toEqual(["7"]);
    expect(accountUser(readEntry({ vendor: { ...VENDOR, account } }))).toEqual(["id of the user"]);
  });
});

describe("an MCP server", () => {
  const SERVER = "https://mcp.acme.example/v1";
  const LIVE = { ...VENDOR, issuer: "https://acme.example" };
  const QUIRKS = ["mcp_authorization_server"];
  const METADATA = "https://acme.example/.well-known/oauth-authorization-server";
  const RESOURCE = "https://mcp.acme.example/.well-known/oauth-protected-resource/v1";
  const open = () => {
    const vendor = createEntryVendor(
      readEntry({ vendor: LIVE, serverUrl: SERVER, quirks: QUIRKS }),
      CLIENT,
      () => 1_700_000_000,
    );
    const get = async (url: string): Promise<{ status: number; body: Record<string, unknown> }> => {
      const answer = await vendor.handle({ method: "GET", url: new URL(url), headers: new Headers(), body: "" });
      if (answer === undefined) throw new Error("the connection was cut");
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    return { vendor, get };
  };

  it("names its issuer, which names the endpoints", async () => {
    const { vendor, get } = open();
    expect((await get(RESOURCE)).body).toEqual({ resource: SERVER, authorization_servers: [LIVE.issuer] });
    const { authorizationEndpoint: authorization_endpoint, tokenEndpoint: token_endpoint } = VENDOR;
    expect((await get(METADATA)).body).toMatchObject({ issuer: LIVE.issuer, authorization_endpoint, token_endpoint });
    expect([...vendor.hosts]).toEqual(["acme.example", "mcp.acme.example"]);
  });

  it("moves its endpoints, and has them nowhere else", async () => {
    const { vendor, get } = open();
    vendor.publish("other endpoints");
    expect((await get(METADATA)).body).toMatchObject({ token_endpoint: "https://acme.example/moved/token" });
    expect((await get(VENDOR.authorizationEndpoint)).status).toBe(404);
  });

  it("publishes nothing, or names another issuer", async () => {
    const { vendor, get } = open();
    vendor.publish("nothing");
    expect([(await get(METADATA)).status, (await get(RESOURCE)).status]).toEqual([404, 404]);
    vendor.publish("another issuer");
    expect((await get(RESOURCE)).body).toMatchObject({ authorization_servers: ["https://x-acme.example"] });
    expect((await get(METADATA)).body).toMatchObject({ issuer: LIVE.issuer });
    vendor.publish("another's metadata");
    expect((await get(METADATA)).body).toMatchObject({ issuer: "https://x-acme.example" });
  });
});

it("the proxy knows a vendor by its Host header, and no other host", async () => {
  const proxy = await startEntryProxy();
  const { vendor } = vendorWith({});
  proxy.serve([vendor]);
  // The test's own host is none of a vendor.
  const answer = await fetch(`http://127.0.0.1:${proxy.port}/token`);
  await proxy.close();
  expect(answer.status).toBe(421);
  expect(proxy.strangers()).toEqual([`127.0.0.1:${proxy.port}`]);
  expect([...vendor.hosts]).toEqual(["acme.example"]);
});

describe("a tenant", () => {
  const WHOLE = { tokenEndpoint: "https://{host}/token" };

  it.each<[object | string, string]>([
    [{ values: ["eu", "us"] }, "eu"],
    [{ kind: "host", suffix: [".acme.example"] }, "acme.acme.example"],
    [{ pattern: "[a-z]{2}-[a-z]+-[0-9]" }, "us-east-1"],
    ["a text is a free label", "acme"],
  ])("has a value for %j", (spec, value) => {
    const entry = readEntry({ vendor: { ...VENDOR, ...WHOLE }, placeholders: { host: spec } });
    expect(sampleValues(entry)).toEqual({ host: value });
    expect(misfits(entry).map((misfit) => misfit.value)).not.toContain(value);
  });

  it("whose pattern no sample fits is an error that names it", () => {
    const entry = readEntry({ vendor: VENDOR, placeholders: { host: { pattern: "[0-9]{99}" } } });
    expect(() => sampleValues(entry)).toThrow("acme: no sample of placeholders.ts fits the placeholder host");
  });
});

describe("the facts", () => {
  it("are the catalogue's, frozen, with those of the vendors that have a file of their own", () => {
    const entries = readEntries(JSON.stringify([{ vendor: { ...VENDOR, scopeSeparator: "," } }]));
    const facts = entries.get("acme")?.facts;
    expect(facts).toMatchObject({ scopeSeparator: ",", pkce: "S256" });
    expect(Object.isFrozen(facts?.parameterNames) && Object.isFrozen(facts)).toBe(true);
    expect(entries.size).toBeGreaterThan(5);
  });

  it("that have no row in the table are mutated by leaving them out, under a name of their own", () => {
    const entry = readEntry({ vendor: { ...VENDOR, shinyNewDialect: { a: 1 } } });
    expect(mutantsOf(entry)).toContainEqual({
      fact: "shinyNewDialect",
      kind: "without a row: shinyNewDialect",
      what: "removed",
      value: undefined,
    });
  });
});
