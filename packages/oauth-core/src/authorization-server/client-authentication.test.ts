import { createHash } from "node:crypto";
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { OAuthError } from "../protocol/errors.ts";
import { parseParameters } from "../protocol/parameters.ts";
import { fixedClock } from "../testing/fixed-clock.ts";
import { authenticateByHeader, authenticateClient, type ClientAuthenticationDeps } from "./client-authentication.ts";
import { JWT_BEARER_ASSERTION } from "./client-assertion.ts";
import type { Client } from "./client.ts";

const ISSUER = "https://broker.example";
const NOW = 1_700_000_000;
const digest = (secret: string): Buffer => createHash("sha256").update(secret).digest();
const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`;

const keys = await generateKeyPair("ES256");
const otherKeys = await generateKeyPair("ES256");
const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: "k1", alg: "ES256", use: "sig" }] };

/** The characters that form-encoding and Basic commonly get wrong. */
const ODD = 'a:b c%2Fd+e/f?g&h=i"j%+ü';

const CLIENTS: Client[] = [
  { clientId: "platform", secretDigests: [digest("s3cret"), digest("next")], redirectUris: [] },
  { clientId: "odd:%+ü", secretDigests: [digest(ODD)], redirectUris: [] },
  { clientId: "signer", secretDigests: [], jwks, redirectUris: [] },
  { clientId: "remote", secretDigests: [], jwksUri: "https://platform.example/jwks", redirectUris: [] },
];

let deps: ClientAuthenticationDeps<Client>;
/** Until when each spent assertion is remembered. */
const kept: number[] = [];
beforeAll(() => {
  const now = fixedClock(NOW);
  const spent = new Set<string>();
  deps = {
    issuer: ISSUER,
    now,
    records: {
      create: async ({ key, expiresAt }) => {
        kept.push(expiresAt);
        if (spent.has(key.id)) return "exists";
        spent.add(key.id);
        return "created";
      },
    },
    remoteKeys: () => createLocalJWKSet(jwks),
    clients: { find: async (id) => CLIENTS.find(({ clientId }) => clientId === id) },
  };
});

const authenticate = (authorization: string | undefined, form: Record<string, string> = {}) =>
  authenticateClient(authorization, parseParameters(new URLSearchParams(form).toString()), deps);
const refused = (code: string) => expect.objectContaining({ code });

describe("secrets", () => {
  it("rfc6749#2.3.1 takes Basic with form-encoded id and secret", async () => {
    expect((await authenticate(basic("platform", "s3cret"))).clientId).toBe("platform");
    expect((await authenticate(basic("platform", "s3cret").replace(" ", "  "))).clientId).toBe("platform");
    expect((await authenticate(basic("odd:%+ü", ODD))).clientId).toBe("odd:%+ü");
    expect((await authenticate(undefined, { client_id: "odd:%+ü", client_secret: ODD })).clientId).toBe("odd:%+ü");
  });

  it("rfc6749#2.3.1 takes client_id and client_secret in the body", async () => {
    expect((await authenticate(undefined, { client_id: "platform", client_secret: "s3cret" })).clientId).toBe(
      "platform",
    );
  });

  it("takes both secrets while one is being rotated", async () => {
    expect((await authenticate(basic("platform", "next"))).clientId).toBe("platform");
  });

  it("rfc6749#2.3 refuses two methods at once, and a body that names another client", async () => {
    await expect(authenticate(basic("platform", "s3cret"), { client_secret: "s3cret" })).rejects.toEqual(
      refused("invalid_request"),
    );
    const wrong = authenticate(basic("platform", "wrong"), { client_id: "signer" });
    await expect(wrong).rejects.toEqual(refused("invalid_client"));
    await expect(authenticate(basic("platform", "s3cret"), { client_id: "signer" })).rejects.toEqual(
      refused("invalid_request"),
    );
  });

  it.each([
    ["nothing", undefined, {}],
    ["a wrong secret", basic("platform", "wrong"), {}],
    ["an unknown client", basic("unregistered", "s3cret"), {}],
    ["an empty secret", basic("platform", ""), {}],
    ["a client that has keys only", basic("signer", ""), {}],
    ["a bearer token", "Bearer s3cret", {}],
    ["broken base64", "Basic !!!", {}],
    ["no colon", `Basic ${Buffer.from("platform").toString("base64")}`, {}],
    ["broken percent-encoding", `Basic ${Buffer.from("platform:%E0%A4").toString("base64")}`, {}],
    ["a secret without client_id", undefined, { client_secret: "s3cret" }],
    ["a wrong secret in the body", undefined, { client_id: "platform", client_secret: "wrong" }],
    ["a bearer token with broken escapes", "Bearer %E0%A4", { client_id: "platform" }],
  ])("bar#ST-1 bar#HT-9 answers %s with the same invalid_client", async (_, authorization, form) => {
    await expect(authenticate(authorization, form)).rejects.toMatchObject({
      code: "invalid_client",
      status: 401,
      description: "Client authentication failed",
    });
  });
});

describe("private_key_jwt", () => {
  const claims = { iss: "signer", sub: "signer", aud: ISSUER as string | string[], iat: NOW, exp: NOW + 60 };
  let serial = 0;
  const assertion = (overrides: Record<string, unknown> = {}, key = keys.privateKey, alg = "ES256") =>
    new SignJWT({ ...claims, jti: `jti-${serial++}`, ...overrides }).setProtectedHeader({ alg, kid: "k1" }).sign(key);
  const present = (value: string, form: Record<string, string> = {}) =>
    authenticate(undefined, { client_assertion_type: JWT_BEARER_ASSERTION, client_assertion: value, ...form });

  it("rfc7523#3 takes an assertion for our issuer, by keys given or fetched", async () => {
    expect((await present(await assertion())).clientId).toBe("signer");
    expect((await present(await assertion({ iss: "remote", sub: "remote" }))).clientId).toBe("remote");
    expect((await present(await assertion(), { client_id: "signer" })).clientId).toBe("signer");
    expect((await present(await assertion({ iat: NOW - 0.5, exp: NOW + 30.25 }))).clientId).toBe("signer");
    expect((await present(await assertion({ iat: NOW + 9, exp: NOW + 69 }))).clientId).toBe("signer");
    expect((await present(await assertion({ iat: NOW - 65, exp: NOW - 9 }))).clientId).toBe("signer");
  });

  it("says which claim is wrong to the operator alone, and whose key set is away to all", async () => {
    const toVendors = present(await assertion({ aud: `${ISSUER}/v1/token` }));
    const description = "Client authentication failed";
    await expect(toVendors).rejects.toMatchObject({ detail: "assertion does not verify: aud", description });
    const { remoteKeys } = deps;
    const byKeys = async (fault: OAuthError) => {
      deps = { ...deps, remoteKeys: () => () => Promise.reject(fault) };
      return present(await assertion({ iss: "remote", sub: "remote" })).finally(() => (deps = { ...deps, remoteKeys }));
    };
    const wrong = new OAuthError("vendor_response_invalid", "wrong", { detail: "key set: status 404" });
    await expect(byKeys(wrong)).rejects.toMatchObject({ detail: "client keys: key set: status 404", description });
    const away = new OAuthError("temporarily_unavailable", "The vendor", { reason: "vendor", retryAfterSeconds: 7 });
    await expect(byKeys(away)).rejects.toMatchObject({
      description: "The key set at the jwks_uri of the client cannot be read",
      extras: { reason: "client_keys_unavailable" },
      retryAfterSeconds: 7,
    });
  });

  it("rfc7523#3 takes each jti once, 50 at the same time included", async () => {
    const one = await assertion({ jti: "once" });
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => present(one)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("rfc7523#3 counts a jti per client, and remembers it until no clock could accept it", async () => {
    const expired = { iat: NOW - 65, exp: NOW - 5 };
    const one = await assertion({ jti: "shared", ...expired });
    await expect(present(one)).resolves.toMatchObject({ clientId: "signer" });
    await expect(present(one)).rejects.toEqual(refused("invalid_client"));
    expect(kept.at(-1)).toBeGreaterThanOrEqual(NOW + 10);
    const other = await assertion({ jti: "shared", iss: "remote", sub: "remote" });
    await expect(present(other)).resolves.toMatchObject({ clientId: "remote" });
  });

  it.each<[string, Record<string, unknown>]>([
    ["another audience", { aud: `${ISSUER}/v1/token` }],
    ["the issuer with a slash", { aud: `${ISSUER}/` }],
    ["a life of 61 s", { exp: NOW + 61 }],
    ["an expired one", { iat: NOW - 100, exp: NOW - 41 }],
    ["one from the future", { iat: NOW + 11, exp: NOW + 60 }],
    ["no jti", { jti: undefined }],
    ["an empty jti", { jti: "" }],
    ["no exp", { exp: undefined }],
    ["no iat", { iat: undefined }],
    ["a jti that is a number", { jti: 7 }],
    ["another issuer", { iss: "platform" }],
    ["another subject", { sub: "platform" }],
    ["an unknown client", { iss: "unregistered", sub: "unregistered" }],
    ["a client with a secret", { iss: "platform", sub: "platform" }],
  ])("rfc7523#3 refuses %s", async (_, overrides) => {
    await expect(present(await assertion(overrides))).rejects.toEqual(refused("invalid_client"));
  });

  it("rfc6750#2.1 is a bearer token where there is no form, and Basic remains", async () => {
    const byHeader = (authorization: string | undefined) => authenticateByHeader(authorization, deps);
    expect((await byHeader(`Bearer ${await assertion()}`)).clientId).toBe("signer");
    expect((await byHeader(`bearer ${await assertion()}`)).clientId).toBe("signer");
    expect((await byHeader(basic("platform", "s3cret"))).clientId).toBe("platform");
    const spent = `Bearer ${await assertion({ jti: "bearer once" })}`;
    await byHeader(spent);
    const foreign = `Bearer ${await assertion({ aud: `${ISSUER}/register` })}`;
    for (const wrong of [undefined, spent, foreign, "Bearer", "Bearer  x", "Bearer x, Basic y", "Digest x"]) {
      await expect(byHeader(wrong)).rejects.toEqual(refused("invalid_client"));
    }
  });

  it("bar#VR-6 refuses an array as aud, even with our issuer alone in it", async () => {
    await expect(present(await assertion({ aud: [ISSUER] }))).rejects.toEqual(refused("invalid_client"));
    await expect(present(await assertion({ aud: [ISSUER, "https://other.example"] }))).rejects.toEqual(
      refused("invalid_client"),
    );
  });

  it("refuses another key, HS256, no signature, no type, another client_id, rubbish", async () => {
    const secret = Buffer.from(JSON.stringify(jwks.keys[0]));
    const hs256 = await new SignJWT({ ...claims, jti: "hs" }).setProtectedHeader({ alg: "HS256" }).sign(secret);
    const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${(await assertion()).split(".")[1]}.`;
    await expect(present(await assertion({}, otherKeys.privateKey))).rejects.toEqual(refused("invalid_client"));
    await expect(present(hs256)).rejects.toEqual(refused("invalid_client"));
    await expect(present(none)).rejects.toEqual(refused("invalid_client"));
    await expect(authenticate(undefined, { client_assertion: await assertion() })).rejects.toEqual(
      refused("invalid_client"),
    );
    await expect(present(await assertion(), { client_id: "platform" })).rejects.toEqual(refused("invalid_client"));
    for (const wrong of [{ client_assertion_type: "urn:x" }, { client_assertion: "x.y.z" }]) {
      await expect(present(await assertion(), wrong)).rejects.toEqual(refused("invalid_client"));
    }
    await expect(present(await assertion(), { client_secret: "x" })).rejects.toEqual(refused("invalid_request"));
    await expect(present("x.y")).rejects.toEqual(refused("invalid_client"));
    await expect(present("a".repeat(9000))).rejects.toEqual(refused("invalid_client"));
  });
});
