/**
 * Attacker: a reader of /v1/token answers although TLS should end at the platform: a proxy that
 * logs bodies, a service mesh, a colleague who holds the key the platform signs with. Goal: the
 * tokens, or at least the loss of a user's consent. Defence, for a client that asked for it: the
 * answer is encrypted to a key of the client (createResponseEncryption), which is never a key for
 * signatures (findEncryptionKey), and nothing is spent before the encryption key is available.
 */
import { createFakeVendor, type FakeVendor } from "@oauth-broker/simulators";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { compactDecrypt, type JWK } from "jose";
import * as encryptedResponseModule from "../../packages/oauth-core/src/authorization-server/encrypted-response.ts";
import { describe, expect, it } from "vitest";
import { BASIC_FORM, type Exchange, HONEST, PLATFORMS } from "./support/names.ts";
import { without } from "./support/outcomes.ts";
import { encode, type Form, openScene, parameter } from "./support/actors.ts";

const { secret, redirectUri } = PLATFORMS.platform;

function newPair(members: Partial<JWK>): { readonly jwk: JWK; readonly privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { jwk: { ...(publicKey.export({ format: "jwk" }) as JWK), ...members }, privateKey };
}

const decrypting = newPair({ use: "enc", kid: "enc" });

/** @param keys fields of the client that supply its keys */
async function setUp(keys: object, others: readonly FakeVendor[] = []) {
  const client = { client_id: "platform", redirect_uris: [redirectUri], token_encrypted_response_alg: "ECDH-ES" };
  const { fixture, honest, backend, victim } = await openScene({
    vendors: others,
    entries: { honest: { name: "Honest", issuer: HONEST } },
    config: { clients: [{ ...client, client_secret: secret, ...keys }] },
  });
  const { flow, url } = await backend.start(victim);
  const form = { grant_type: "authorization_code", redirect_uri: redirectUri, code_verifier: flow.codeVerifier };
  const post = async (body: Form): Promise<Exchange> =>
    fixture.request("/v1/token", { method: "POST", headers: BASIC_FORM, body: encode(body) });
  return { honest, post, redeem: async () => post({ ...form, code: parameter(url, "code") }) };
}

/** Everything in an answer that can be read without a key. */
function readable({ headers, body }: Exchange): string {
  const parts = body.split(".").map((part) => Buffer.from(part, "base64url").toString("latin1"));
  return [JSON.stringify([...headers]), body, ...parts].join("\n");
}

const tokensIn = (text: string, { tokens }: Pick<FakeVendor, "tokens">): string[] =>
  tokens.filter((token) => text.includes(token));

const opensWith = async ({ body }: Exchange, privateKey: KeyObject): Promise<boolean> =>
  compactDecrypt(body, privateKey).then(
    () => true,
    () => false,
  );

describe("an attacker who reads the answers in transit", () => {
  async function readAnswers(): Promise<string[]> {
    const { honest, post, redeem } = await setUp({ jwks: { keys: [decrypting.jwk] } });
    const seen = readable(await redeem());
    const [, refreshToken = ""] = honest.tokens;
    const refreshed = await post({ grant_type: "refresh_token", refresh_token: refreshToken, vendor: "honest" });
    expect([refreshed.status, honest.tokens.length]).toEqual([200, 4]);
    return tokensIn(`${seen}\n${readable(refreshed)}`, honest);
  }

  it("finds no token in them, redeemed or refreshed", async () => {
    expect(await readAnswers()).toEqual([]);
  });

  it("twin: in plain JSON finds every one", async () => {
    without(encryptedResponseModule, () => ({
      createResponseEncryption: () => ({ prepare: async () => async (body) => JSON.stringify(body) }),
    }));
    expect(await readAnswers()).toHaveLength(4);
  });
});

describe("an attacker who holds the key the platform signs with", () => {
  const signing = newPair({ kid: "sig" });

  /** A set of both kinds, in which the key for signatures does not state its use. */
  async function readWithSigningKey(): Promise<[boolean, boolean]> {
    const { redeem } = await setUp({ jwks: { keys: [signing.jwk, decrypting.jwk] } });
    const answer = await redeem();
    return [await opensWith(answer, signing.privateKey), await opensWith(answer, decrypting.privateKey)];
  }

  it("opens nothing", async () => {
    expect(await readWithSigningKey()).toEqual([false, true]);
  });

  it("twin: with any key that fits opens it", async () => {
    without(encryptedResponseModule, () => ({ findEncryptionKey: (keys) => keys[0] }));
    expect(await readWithSigningKey()).toEqual([true, false]);
  });
});

describe("an attacker who blocks the client's key set", () => {
  /** @returns statuses before and after, and how often the vendor was called in between */
  async function keepKeysAway(): Promise<{ readonly statuses: number[]; readonly asked: number }> {
    const web = { isUp: false };
    const place = createFakeVendor({
      origin: "https://keys.example",
      paths: { "/jwks.json": () => (web.isUp ? { body: { keys: [decrypting.jwk] } } : { status: 503 }) },
    });
    const { honest, redeem } = await setUp({ jwks_uri: "https://keys.example/jwks.json" }, [place]);
    const refused = await redeem();
    const asked = honest.tokenRequests.length;
    web.isUp = true;
    return { statuses: [refused.status, (await redeem()).status], asked };
  }

  it("delays a user's tokens and costs nothing: the code works once the keys can be read", async () => {
    expect(await keepKeysAway()).toEqual({ statuses: [503, 200], asked: 0 });
  });

  it("twin: with the key looked for afterwards costs the user's consent", async () => {
    without(encryptedResponseModule, ({ createResponseEncryption }) => ({
      createResponseEncryption: (deps) => {
        const { prepare } = createResponseEncryption(deps);
        return { prepare: async (registered) => async (body) => (await prepare(registered))(body) };
      },
    }));
    expect(await keepKeysAway()).toEqual({ statuses: [503, 400], asked: 1 });
  });
});
