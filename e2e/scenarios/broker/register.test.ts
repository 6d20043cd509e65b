/**
 * Dynamic client registration through the broker, at OpenID providers that are open to all,
 * require an initial access token, or are closed, and at servers that answer anything else. The new
 * client is then used: at the vendor, and through the broker as BYOC.
 */
import { driveConsent, type OpenIdProvider, type ScriptedVendor, startScriptedVendor } from "@oauth-broker/simulators";
import { SignJWT } from "jose";
import { expectError } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClientKeys, createClientKeys } from "../../support/broker/client-keys.ts";
import { brokerYaml, createSecrets, REDIRECT_URI } from "../../support/broker/configuration.ts";
import { freePort } from "../../support/free-port.ts";
import { type InProcessBroker, startInProcessBroker } from "../../support/broker/in-process.ts";
import {
  type Answer,
  basic,
  challengeOf,
  createPlatform,
  encode,
  random,
  readTokens,
  send,
} from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";
import { textMember } from "../../support/text-member.ts";
import { plantVendorSecrets, startVendor } from "../../support/broker/vendor.ts";

const secrets = createSecrets();
const iat = random("initial access token");
let baseUrl: string;
let keys: ClientKeys;
let open: OpenIdProvider;
let gated: OpenIdProvider;
let closed: OpenIdProvider;
let odd: ScriptedVendor;
let broker: InProcessBroker;

const BYTES = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0xff, 0x00, 0xc3, 0x28, 0x0d, 0x0a, 0x3c, 0x62, 0x3e]);

const FOREIGN = { "Content-Type": "text/html", "Set-Cookie": "a=b", Location: "https://x.example", Link: "<x>" };

/**
 * Answers what no registration should: bytes that are not text with the type of a page, and foreign
 * headers.
 */
async function startOddVendor(): Promise<ScriptedVendor> {
  const odd = { status: 418, headers: FOREIGN, body: BYTES };
  return startScriptedVendor({ "/moved": { ...odd, status: 307 }, "*": odd });
}

beforeAll(async () => {
  baseUrl = `http://127.0.0.1:${await freePort()}`;
  keys = await createClientKeys("k1");
  open = await startVendor({ baseUrl, secrets }, { registration: {} });
  gated = await startVendor({ baseUrl, secrets }, { registration: { initialAccessToken: iat } });
  closed = await startVendor({ baseUrl, secrets });
  odd = await startOddVendor();
  const at = (path: string): string =>
    `authorization_endpoint: "${odd.url}/a", token_endpoint: "${odd.url}/t", registration_endpoint: "${odd.url}/${path}"`;
  broker = await startInProcessBroker(
    brokerYaml({
      baseUrl,
      secrets,
      issuer: open.issuer,
      client: "    owner: acme",
      clients: `
  - { client_id: keyed, jwks: ${keys.jwks}, redirect_uris: [${REDIRECT_URI}] }
  - { client_id: narrow, client_secret: ${secrets.other}, redirect_uris: [${REDIRECT_URI}], vendors: [closed] }`,
      vendors: `
  gated: { name: Gated, issuer: "${gated.issuer}" }
  gated-with-token: { name: Gated, issuer: "${gated.issuer}", initial_access_token: ${iat} }
  closed: { name: Closed, issuer: "${closed.issuer}" }
  odd: { name: Odd, ${at("register")} }
  moved: { name: Moved, ${at("moved")} }
  gone: { name: Gone, issuer: "http://127.0.0.1:${await freePort()}" }`,
      more: `owners: [{ id: acme, initial_access_token: { gated: ${iat} } }]`,
    }),
  );
});
afterAll(async () => {
  for (const vendor of [open, gated, closed]) plantVendorSecrets(vendor);
  await broker.close();
  await Promise.all([open, gated, closed, odd].map((vendor) => vendor.close()));
});

const PLATFORM = { authorization: basic("platform", secrets.platform) };
const OTHER = { authorization: basic("other", secrets.other) };

async function register(body: object, headers: Readonly<Record<string, string>> = PLATFORM): Promise<Answer> {
  const answer = await send(`${baseUrl}/register`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  for (const name of ["client_secret", "registration_access_token"]) {
    if (answer.body[name] !== undefined) plantSecret(`${name} that was made`, textMember(answer.body, name));
  }
  return answer;
}

const registrationsAt = (vendor: OpenIdProvider) => vendor.requests().filter(({ path }) => path === "/reg");

describe("at a vendor that is open to all", () => {
  it("rfc7591#3.2.1 makes a new client with our callback for every request", async () => {
    const before = registrationsAt(open).length;
    const evil = { redirect_uris: ["https://evil.example/cb"], client_name: "Evil", client_id: "chosen" };
    const answers = [await register({ vendor: "op" }), await register({ vendor: "op", ...evil }, OTHER)];
    for (const { status, headers, body } of answers) {
      expect(status).toBe(201);
      expect(body).toMatchObject({
        client_id: expect.stringMatching(/^.{10,}$/),
        client_secret: expect.stringMatching(/^.{32,}$/),
        client_name: "OAuth broker",
        redirect_uris: [`${baseUrl}/v1/callback`],
        grant_types: ["authorization_code", "refresh_token"],
        token_endpoint_auth_method: "client_secret_basic",
        application_type: "web",
        scope: "openid api:read",
        registration_client_uri: expect.stringContaining(open.issuer),
      });
      expect(headers.get("cache-control")).toBe("no-store");
    }
    expect(answers[0]?.body["client_id"]).not.toBe(answers[1]?.body["client_id"]);
    expect(registrationsAt(open)).toHaveLength(before + 2);
  });

  it("registers a client that works at the vendor and through the broker", async () => {
    const { body } = await register({ vendor: "op" });
    const clientId = textMember(body, "client_id");
    const codeVerifier = random("code_verifier");
    const asked = encode({
      client_id: clientId,
      response_type: "code",
      redirect_uri: `${baseUrl}/v1/callback`,
      scope: "openid api:read",
      code_challenge: challengeOf(codeVerifier),
      code_challenge_method: "S256",
    });
    const callback = await driveConsent(`${open.issuer}/auth?${asked.toString()}`, {
      stopAt: ({ href }) => href.startsWith(`${baseUrl}/v1/callback`),
    });
    const answer = await send(`${open.issuer}/token`, {
      method: "POST",
      headers: { authorization: basic(clientId, textMember(body, "client_secret")) },
      body: encode({
        grant_type: "authorization_code",
        code: callback.searchParams.get("code") ?? "",
        redirect_uri: `${baseUrl}/v1/callback`,
        code_verifier: codeVerifier,
      }),
    });
    expect({ status: answer.status, type: answer.body["token_type"] }).toEqual({ status: 200, type: "Bearer" });
  });

  it("makes one for BYOC: a user connects with it, its tokens are refreshed and end", async () => {
    const { body } = await register({ vendor: "op" });
    const own = {
      vendor_client_id: textMember(body, "client_id"),
      vendor_client_secret: textMember(body, "client_secret"),
    };
    const platform = createPlatform({ baseUrl, clientSecret: secrets.platform });
    const tokens = await platform.connect({ form: { ...own, scope: "openid api:read" } });
    expect(tokens.flow.returned.href.startsWith(REDIRECT_URI)).toBe(true);
    const refreshed = await platform.refresh(tokens, own);
    expect(refreshed.status, refreshed.text).toBe(200);
    const renewed = readTokens(refreshed);
    const revoked = await platform.revoke(renewed.accessToken, renewed, own);
    expect(revoked.body).toEqual({ revoked: "token" });
    // At the vendor it was this client each time, never the broker's own.
    const users = open
      .requests()
      .filter(({ path }) => path.startsWith("/token"))
      .slice(-3);
    expect(users.map(({ headers }) => headers["authorization"])).toEqual(
      Array(3).fill(basic(own.vendor_client_id, own.vendor_client_secret)),
    );
  });

  it("takes a client assertion as bearer token, once", async () => {
    const at = Math.floor(Date.now() / 1000);
    const assertion = await new SignJWT({ jti: random("jti") })
      .setProtectedHeader({ alg: "ES256", kid: keys.kid })
      .setIssuer("keyed")
      .setSubject("keyed")
      .setAudience(baseUrl)
      .setIssuedAt(at)
      .setExpirationTime(at + 60)
      .sign(keys.privateKey);
    plantSecret("assertion", assertion);
    const bearer = { authorization: `Bearer ${assertion}` };
    expect((await register({ vendor: "op" }, bearer)).status).toBe(201);
    expectError(await register({ vendor: "op" }, bearer), 401, "invalid_client");
  });

  it("sends one request, also when the answer is lost: 503, and the vendor has an unused client", async () => {
    const before = registrationsAt(open).length;
    open.faults.next("/reg", { kind: "lose" });
    expectError(await register({ vendor: "op" }), 503, "temporarily_unavailable");
    expect(registrationsAt(open)).toHaveLength(before + 1);
  });
});

describe("at a vendor that requires an initial access token", () => {
  it("rfc7591#3 presents the caller's, the owner's or the vendor's", async () => {
    expect((await register({ vendor: "gated", initial_access_token: iat }, OTHER)).status).toBe(201);
    expect((await register({ vendor: "gated" })).status).toBe(201);
    expect((await register({ vendor: "gated-with-token" }, OTHER)).status).toBe(201);
    expect(registrationsAt(gated).map(({ headers }) => headers["authorization"])).toEqual(
      Array(3).fill(`Bearer ${iat}`),
    );
  });

  it("rfc7591#3.2.2 passes its refusal on, to another owner's client and for a wrong token", async () => {
    for (const answer of [
      await register({ vendor: "gated" }, OTHER),
      await register({ vendor: "gated", initial_access_token: "wrong" }),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(402);
      expect(answer.body["error"]).toMatch(/^invalid_(?:token|request)$/);
      expect(answer.headers.has("www-authenticate")).toBe(false);
    }
  });
});

describe("at vendors with another answer, or none", () => {
  it("passes on status, type and bytes, and no other header", async () => {
    const answer = await fetch(`${baseUrl}/register`, {
      method: "POST",
      headers: { "content-type": "application/json", ...PLATFORM },
      body: '{"vendor":"odd"}',
    });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(BYTES);
    expect({ status: answer.status, type: answer.headers.get("content-type") }).toEqual({
      status: 418,
      type: "text/html",
    });
    for (const name of ["set-cookie", "location", "link"]) expect(answer.headers.has(name)).toBe(false);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-security-policy")).toContain("sandbox");
  });

  it("answers 502 for a redirect, 503 for an outage, 400 if no clients are registered", async () => {
    expectError(await register({ vendor: "moved" }), 502, "vendor_response_invalid");
    expectError(await register({ vendor: "gone" }), 503, "temporarily_unavailable");
    const { reason } = expectError(await register({ vendor: "closed" }), 400, "invalid_request");
    expect(reason).toBe("registration_not_supported");
  });
});

describe("callers", () => {
  it("are refused without credentials, for other vendors, and with a body of another kind", async () => {
    expectError(await register({ vendor: "op" }, {}), 401, "invalid_client");
    expectError(
      await register({ vendor: "op" }, { authorization: basic("platform", "r3flect") }),
      401,
      "invalid_client",
    );
    expectError(
      await register({ vendor: "op" }, { authorization: basic("narrow", secrets.other) }),
      400,
      "unauthorized_client",
    );
    expectError(await register({ vendor: "r3flect" }), 400, "invalid_request");
    expectError(await register(["op"]), 400, "invalid_request");
    expectError(
      await register({ vendor: "op" }, { ...PLATFORM, "content-type": "text/plain" }),
      415,
      "invalid_request",
    );
  });
});
