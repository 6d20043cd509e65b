/**
 * What each key of a client is for: to authenticate it, to encrypt its token answers, or both. One
 * set may hold keys of both kinds. Beside a client_secret the set is for encryption only, so that
 * the client has one way to authenticate.
 */
import { defined } from "@oauth-broker/oauth-core";
import { usableKeys } from "@oauth-broker/oauth-core/vendor-client";
import {
  type EncryptedResponse,
  findEncryptionKey,
  RESPONSE_ENCRYPTION_ALGS,
  type ResponseEncryptionAlg,
} from "@oauth-broker/oauth-core/authorization-server";
import { checkPublicKeys, readKeySet } from "../schema/public-keys.ts";
import { type ClientKeys, DEFAULT_ENC, type ParsedClient } from "../schema/client.ts";
import type { ClientConfig } from "../../config-types.ts";

type Key = ReturnType<typeof usableKeys>[number];

const KEY_OF_ALG: Readonly<Record<ResponseEncryptionAlg, string>> = {
  "ECDH-ES": "an EC key on P-256, P-384 or P-521, or OKP on X25519, with use enc",
  "ECDH-ES+A256KW": "an EC key on P-256, P-384 or P-521, or OKP on X25519, with use enc",
  "RSA-OAEP-256": "an RSA key of at least 2048 bits, with use enc",
};

/**
 * @param client one entry of `clients` as written, with references resolved; the schema reports
 *   problems within one field
 */
export function checkKeyUses(
  client: Readonly<Record<string, unknown>>,
  say: (field: string, problem: string, expected: string) => void,
): void {
  const has = (name: string): boolean => Object.hasOwn(client, name);
  const alg = RESPONSE_ENCRYPTION_ALGS.find((one) => one === client["token_encrypted_response_alg"]);
  const set = readKeySet(client["jwks"]);
  if (has("token_encrypted_response_enc") && !has("token_encrypted_response_alg")) {
    const expected = `token_encrypted_response_alg as well: one of ${RESPONSE_ENCRYPTION_ALGS.join(", ")}`;
    say("token_encrypted_response_enc", "encrypts nothing without token_encrypted_response_alg", expected);
  }
  if (has("token_encrypted_response_alg") && !has("jwks") && !has("jwks_uri")) {
    const expected = `jwks or jwks_uri, beside client_secret too${alg === undefined ? "" : `, with ${KEY_OF_ALG[alg]}`}`;
    say("token_encrypted_response_alg", "needs a key of the client", expected);
  }
  if (!has("jwks") || checkPublicKeys(set) !== undefined) return;
  const keys = set as ClientKeys;
  const signs = !has("client_secret");
  if (alg !== undefined && findEncryptionKey(usableKeys(keys, "enc"), alg, signs) === undefined) {
    say("jwks", `has no key for ${alg}`, KEY_OF_ALG[alg]);
  }
  if (signs && signingKeys(keys).length === 0) {
    const expected = "a key whose use is sig or absent, or client_secret beside the keys for encryption";
    say("jwks", "has no key for private_key_jwt", expected);
  }
}

/** A key whose `alg` is an encryption algorithm verifies nothing. */
function signingKeys(set: ClientKeys): Key[] {
  return usableKeys(set).filter(({ alg }) => alg === undefined || !ENCRYPTS.test(alg));
}

const ENCRYPTS = /^(?:ECDH-ES|RSA-OAEP|RSA1_5)/;

/**
 * Sorts the keys by what they are used for.
 * @param parsed without problems
 */
export function buildKeys(parsed: ParsedClient): Pick<ClientConfig, "jwks" | "jwksUri" | "encryptedResponse"> {
  const { jwks, jwksUri, tokenEncryptedResponseAlg: alg } = parsed;
  const signs = parsed.clientSecret === undefined;
  const encryptedResponse = alg === undefined ? undefined : buildEncryption(parsed, alg, signs);
  return {
    ...(signs && jwks !== undefined ? { jwks: { keys: signingKeys(jwks) } } : {}),
    ...(signs && jwksUri !== undefined ? { jwksUri } : {}),
    ...defined({ encryptedResponse }),
  };
}

function buildEncryption(
  { jwks, jwksUri, tokenEncryptedResponseEnc: enc = DEFAULT_ENC }: ParsedClient,
  alg: ResponseEncryptionAlg,
  alsoSigns: boolean,
): EncryptedResponse | undefined {
  if (jwksUri !== undefined) return { alg, enc, jwksUri, alsoSigns };
  const key = jwks && findEncryptionKey(usableKeys(jwks, "enc"), alg, alsoSigns);
  return key === undefined ? undefined : { alg, enc, key };
}
