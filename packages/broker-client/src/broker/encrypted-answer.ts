/**
 * Token responses that the broker has encrypted for this client (`token_encrypted_response_alg` in
 * its configuration): a proxy that ends TLS, or a log of bodies, then sees no token.
 */
import { compactDecrypt, type CryptoKey, type JWK, type KeyObject } from "jose";
import type { JsonObject } from "../ports.ts";
import { invalidResponse } from "../error.ts";
import { parseMembers } from "../json.ts";

/** The key that opens the token answers the broker encrypts for this client. */
export interface AnswerEncryption {
  /** Its public half is in this client's `jwks` at the broker. */
  readonly privateKey: CryptoKey | KeyObject | JWK;
}

/**
 * The algorithms the broker offers. Public-key algorithms only: with `dir`, or a password, the
 * sender of the response could choose the key.
 */
//= rfc8725#3.1
const KEY_MANAGEMENT = ["ECDH-ES", "ECDH-ES+A256KW", "RSA-OAEP-256"];
const CONTENT_ENCRYPTION = ["A256GCM", "A256CBC-HS512"];

/**
 * @param answer a success of the token endpoint
 * @returns its members
 * @throws BrokerClientError invalid_response; for a client with a key also for a plain response: an
 *   attacker who could make the broker send it plain could read it
 */
export async function readTokenMembers(
  answer: Response,
  encryption: AnswerEncryption | undefined,
): Promise<JsonObject> {
  const isEncrypted = /^application\/jwt\s*(;|$)/i.test(answer.headers.get("content-type") ?? "");
  if (encryption !== undefined && !isEncrypted) {
    throw invalidResponse("not_encrypted", "The broker's response is not encrypted, and this client requires it");
  }
  const text = await answer.text();
  const json = isEncrypted ? await decrypt(text, encryption) : text;
  const members = parseMembers(json);
  if (members === undefined) throw invalidResponse("malformed", "The broker's answer is not a JSON object");
  return members;
}

async function decrypt(jwe: string, encryption: AnswerEncryption | undefined): Promise<string> {
  if (encryption === undefined) {
    throw invalidResponse("not_decryptable", "The broker's answer is encrypted, and this client has no key to open it");
  }
  try {
    const { plaintext } = await compactDecrypt(jwe, encryption.privateKey, {
      keyManagementAlgorithms: KEY_MANAGEMENT,
      contentEncryptionAlgorithms: CONTENT_ENCRYPTION,
    });
    return new TextDecoder().decode(plaintext);
  } catch {
    throw invalidResponse("not_decryptable", "The broker's answer cannot be opened with the key of this client");
  }
}
