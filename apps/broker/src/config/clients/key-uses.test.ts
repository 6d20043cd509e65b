import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import { CLIENT, load, MINIMAL, problemsOf } from "../testing/config-file.ts";

type Jwk = Record<string, unknown>;

const { client_secret: _secret, ...SIGNER } = CLIENT;
const JWKS_URI = "https://acme.platform.example/jwks.json";
const jwkOf = (key: KeyObject, members: Jwk): Jwk => Object.assign(key.export({ format: "jwk" }), members);
const newEc = (members: Jwk, namedCurve = "P-256"): Jwk =>
  jwkOf(generateKeyPairSync("ec", { namedCurve }).publicKey, members);
const newRsa = (members: Jwk, modulusLength = 2048): Jwk =>
  jwkOf(generateKeyPairSync("rsa", { modulusLength }).publicKey, members);

const enc = newEc({ use: "enc", kid: "enc" });
const sig = newEc({ use: "sig", kid: "sig", alg: "ES256" });
const rsa = newRsa({ use: "enc", kid: "rsa" });

const clientOf = (fields: object) => load({ ...MINIMAL, clients: [fields] }).clients[0];
const problemsOfClient = (fields: object): string[] =>
  problemsOf({ clients: [fields] }).map((problem) => problem.replace("clients[0].", ""));
const toSecret = (fields: object): object => ({ ...CLIENT, token_encrypted_response_alg: "ECDH-ES", ...fields });
const toSigner = (fields: object): object => ({ ...SIGNER, token_encrypted_response_alg: "ECDH-ES", ...fields });

const keysOf = (...keys: Jwk[]) => ({ jwks: { keys } });
const [NO_ENC, NO_SIG] = ["ECDH-ES", "private_key_jwt"].map((use) => `jwks has no key for ${use}`) as [string, string];

describe("encrypted answers", () => {
  it("are off unless a client asks for them", () => {
    expect(clientOf(CLIENT)).not.toHaveProperty("encryptedResponse");
    expect(clientOf({ ...SIGNER, jwks: { keys: [sig, enc] } })).not.toHaveProperty("encryptedResponse");
  });

  it.each([
    ["ECDH-ES", enc],
    ["ECDH-ES", newEc({ use: "enc" }, "P-384")],
    ["ECDH-ES", newEc({ use: "enc" }, "P-521")],
    ["ECDH-ES", jwkOf(generateKeyPairSync("x25519").publicKey, { use: "enc" })],
    ["ECDH-ES+A256KW", newEc({ use: "enc", alg: "ECDH-ES+A256KW" })],
    ["RSA-OAEP-256", rsa],
  ])("take %s and a key for it, %#", (alg, key) => {
    const client = clientOf(toSecret({ token_encrypted_response_alg: alg, jwks: { keys: [key] } }));
    expect(client?.encryptedResponse).toEqual({ alg, enc: "A256GCM", key });
  });

  it("take another content encryption", () => {
    const client = clientOf(toSecret({ token_encrypted_response_enc: "A256CBC-HS512", jwks: { keys: [enc] } }));
    expect(client?.encryptedResponse).toMatchObject({ enc: "A256CBC-HS512" });
  });

  it("take the first key that fits, and never a key for signatures", () => {
    const next = newEc({ use: "enc", kid: "next" });
    const keyOf = (...keys: Jwk[]): unknown => clientOf(toSigner(keysOf(...keys)))?.encryptedResponse;
    expect(keyOf(sig, rsa, next, enc)).toMatchObject({ key: { kid: "next" } });
    expect(keyOf(newEc({ kid: "any" }), enc)).toMatchObject({ key: { kid: "enc" } });
  });

  it("take keys as JSON text from a file, and by reference", () => {
    const jwks = JSON.stringify({ keys: [enc] });
    const clients = [toSecret({ jwks: "file:jwks.json" })];
    const fromFile = load({ ...MINIMAL, clients }, { files: { "jwks.json": jwks } }).clients[0];
    expect(fromFile?.encryptedResponse).toMatchObject({ key: enc });
    const byReference = { alg: "ECDH-ES", enc: "A256GCM", jwksUri: JWKS_URI };
    expect(clientOf(toSecret({ jwks_uri: JWKS_URI }))?.encryptedResponse).toEqual({ ...byReference, alsoSigns: false });
    expect(clientOf(toSigner({ jwks_uri: JWKS_URI }))).toMatchObject({
      jwksUri: JWKS_URI,
      encryptedResponse: { ...byReference, alsoSigns: true },
    });
  });

  it("leave a client with a secret no second way to authenticate", () => {
    const byValue = clientOf(toSecret({ jwks: { keys: [sig, enc] } }));
    expect(byValue).not.toHaveProperty("jwks");
    expect(clientOf(toSecret({ jwks_uri: JWKS_URI }))).not.toHaveProperty("jwksUri");
    const labelled = newEc({ alg: "ECDH-ES" });
    expect(clientOf(toSigner({ jwks: { keys: [sig, enc, labelled] } }))?.jwks).toEqual({ keys: [sig] });
  });

  it.each<[string, object, string[]]>([
    ["no key", toSecret({}), ["token_encrypted_response_alg needs a key of the client"]],
    [
      "no alg",
      { ...CLIENT, token_encrypted_response_enc: "A256GCM" },
      ["token_encrypted_response_enc encrypts nothing without token_encrypted_response_alg"],
    ],
    [
      "an alg that the broker does not support",
      toSecret({ token_encrypted_response_alg: "RSA1_5", jwks: { keys: [rsa] } }),
      ['token_encrypted_response_alg must be one of "ECDH-ES", "ECDH-ES+A256KW", "RSA-OAEP-256"'],
    ],
    [
      "an enc that the broker does not support",
      toSecret({ token_encrypted_response_enc: "A128CBC-HS256", jwks: { keys: [enc] } }),
      ['token_encrypted_response_enc must be one of "A256GCM", "A256CBC-HS512"'],
    ],
    ["a key of another algorithm", toSecret(keysOf(rsa)), [NO_ENC]],
    ["a key that names another algorithm", toSecret(keysOf(newEc({ use: "enc", alg: "ECDH-ES+A128KW" }))), [NO_ENC]],
    ["a key for signatures", toSecret(keysOf(sig)), [NO_ENC]],
    ["a curve that the broker does not support", toSecret(keysOf(newEc({ use: "enc" }, "secp256k1"))), [NO_ENC]],
    [
      "two keys that do not say what they are for",
      toSigner(keysOf(newEc({ kid: "a" }), newEc({ kid: "b" }))),
      [NO_ENC],
    ],
    ["no key that signs", toSigner(keysOf(enc)), [NO_SIG]],
    ["neither", toSigner(keysOf(rsa)), [NO_ENC, NO_SIG]],
    [
      "a private key",
      toSecret({ jwks: { keys: [{ ...enc, d: "AAAA" }] } }),
      ["jwks has a key (number 1) that is a private key: give the public half only"],
    ],
    [
      "two keys of one name",
      toSecret(keysOf(enc, newEc({ use: "enc", kid: "enc" }))),
      ["jwks has a key (number 1) that has the same kid as another"],
    ],
    [
      "several at once",
      { ...SIGNER, token_encrypted_response_enc: "A128GCM", jwks: { keys: [enc] } },
      [
        'token_encrypted_response_enc must be one of "A256GCM", "A256CBC-HS512"',
        "token_encrypted_response_enc encrypts nothing without token_encrypted_response_alg",
        NO_SIG,
      ],
    ],
  ])("are refused with %s", (_, fields, problems) => {
    expect(problemsOfClient(fields)).toEqual(problems);
  });

  it("rfc7518#4.3 are refused with RSA under 2048 bits", () => {
    const weak = toSecret({ token_encrypted_response_alg: "RSA-OAEP-256", ...keysOf(newRsa({ use: "enc" }, 1024)) });
    expect(problemsOfClient(weak)).toEqual([
      "jwks has a key (number 1) that cannot be used: it must be EC, OKP, or RSA of at least 2048 bits, with a sound value and a kid that is text",
    ]);
  });

  it("do not make two ways to authenticate of three", () => {
    const both = { jwks: { keys: [enc] }, jwks_uri: JWKS_URI };
    expect(problemsOf({ clients: [toSecret(both)] })).toEqual(["clients[0] has client_secret and jwks and jwks_uri"]);
    expect(problemsOf({ clients: [{ ...CLIENT, jwks: { keys: [enc] } }] })).toEqual([
      "clients[0] has client_secret and jwks",
    ]);
  });
});
