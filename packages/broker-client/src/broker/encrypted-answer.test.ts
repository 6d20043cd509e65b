import { defined } from "@oauth-broker/oauth-core";
import { CompactEncrypt, exportJWK, generateKeyPair } from "jose";
import { fixedClock, ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { Tokens } from "../types.ts";
import { callbackOf, createFakeBroker, PLATFORM, TOKEN_ANSWER } from "../testing/fake-broker.ts";
import { type BrokerClient, createBrokerClient } from "./client.ts";
import type { AnswerEncryption } from "./encrypted-answer.ts";

const now = fixedClock(1_700_000_000);
const keys = await generateKeyPair("ECDH-ES", { crv: "P-256", extractable: true });
const rsa = await generateKeyPair("RSA-OAEP-256");

const broker = ofEachTest(createFakeBroker);

type Key = Parameters<CompactEncrypt["encrypt"]>[0];

async function encrypted(
  key: Key = keys.publicKey,
  alg = "ECDH-ES",
  text = JSON.stringify(TOKEN_ANSWER),
): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(text)).setProtectedHeader({ alg, enc: "A256GCM" }).encrypt(key);
}

function answerWith(jwe: string, type = "application/jwt"): void {
  broker.answers.set("/v1/token", () => new Response(jwe, { headers: { "content-type": type } }));
}

const clientWith = (encryption?: AnswerEncryption): BrokerClient =>
  createBrokerClient({ ...PLATFORM, now, fetch: broker.fetch, ...defined({ encryption }) });

async function finish(encryption?: AnswerEncryption): Promise<Tokens> {
  const client = clientWith(encryption);
  const { session } = await client.start({ vendor: "github" });
  return client.finish(callbackOf(session.state), session);
}

describe("an encrypted answer", () => {
  it.each(["application/jwt", "application/jwt; charset=utf-8", "Application/JWT"])("as %s is opened", async (type) => {
    answerWith(await encrypted(), type);
    expect(await finish({ privateKey: keys.privateKey })).toMatchObject({
      accessToken: "vendor-access-token",
      connection: "sealed-connection",
    });
  });

  it("is opened with a JWK, and with RSA", async () => {
    answerWith(await encrypted());
    expect(await finish({ privateKey: await exportJWK(keys.privateKey) })).toMatchObject({ vendor: "github" });
    answerWith(await encrypted(rsa.publicKey, "RSA-OAEP-256"));
    expect(await finish({ privateKey: rsa.privateKey })).toMatchObject({ vendor: "github" });
  });

  it("is refreshed the same way", async () => {
    answerWith(await encrypted());
    const client = clientWith({ privateKey: keys.privateKey });
    expect(await client.refresh({ refreshToken: "r", connection: "c" })).toMatchObject({ outcome: "ok" });
  });

  it("that was changed, cut or made for another key is refused", async () => {
    const jwe = await encrypted();
    const other = await generateKeyPair("ECDH-ES", { crv: "P-256" });
    const bad = [`${jwe.slice(0, -2)}AA`, jwe.split(".").slice(0, 4).join("."), "", await encrypted(other.publicKey)];
    for (const one of bad) {
      answerWith(one);
      await expect(finish({ privateKey: keys.privateKey })).rejects.toMatchObject({
        code: "invalid_response",
        details: { reason: "not_decryptable" },
      });
    }
  });

  it("rfc8725#3.1 with an algorithm that a public key does not have is refused", async () => {
    const secret = new Uint8Array(32).fill(7);
    answerWith(await encrypted(secret, "dir"));
    // A caller without types could pass the secret.
    await expect(finish({ privateKey: secret } as unknown as AnswerEncryption)).rejects.toMatchObject({
      details: { reason: "not_decryptable" },
    });
  });

  it("that holds no JSON object is refused", async () => {
    answerWith(await encrypted(keys.publicKey, "ECDH-ES", "[]"));
    await expect(finish({ privateKey: keys.privateKey })).rejects.toMatchObject({ details: { reason: "malformed" } });
  });

  it("cannot be read by a client without a key", async () => {
    answerWith(await encrypted());
    await expect(finish()).rejects.toMatchObject({ code: "invalid_response", details: { reason: "not_decryptable" } });
  });
});

describe("a client that wants encrypted answers", () => {
  it("refuses a plain one, and shows none of it", async () => {
    const error: unknown = await finish({ privateKey: keys.privateKey }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "invalid_response", details: { reason: "not_encrypted" } });
    expect(JSON.stringify(error) + String(error)).not.toContain("vendor-access-token");
  });

  it("reads errors, which are not encrypted: there is nothing secret in them", async () => {
    broker.answers.set("/v1/token", () => Response.json({ error: "invalid_grant" }, { status: 400 }));
    await expect(finish({ privateKey: keys.privateKey })).rejects.toMatchObject({ code: "invalid_grant" });
  });
});
