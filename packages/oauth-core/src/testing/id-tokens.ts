/** ID tokens as vendors sign them, valid or broken in one place. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { CompactSign, type CompactJWSHeaderParameters, type JWK } from "jose";

export interface IdTokenKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicJwk: JWK;
}

export function newIdTokenKey(alg: "RS256" | "ES256" | "PS256" | "EdDSA", kid: string, rsaBits = 2048): IdTokenKey {
  const { privateKey, publicKey } = pair(alg, rsaBits);
  return { alg, kid, privateKey, publicJwk: { ...(publicKey.export({ format: "jwk" }) as JWK), kid, alg, use: "sig" } };
}

function pair(alg: string, modulusLength: number): { privateKey: KeyObject; publicKey: KeyObject } {
  if (alg === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" });
  if (alg === "EdDSA") return generateKeyPairSync("ed25519");
  return generateKeyPairSync("rsa", { modulusLength });
}

/** @param header members that replace the valid ones; undefined removes one */
export async function signIdToken(
  claims: Readonly<Record<string, unknown>>,
  { alg, kid, privateKey }: IdTokenKey,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return signText(JSON.stringify(claims), { alg, kid, typ: "JWT", ...header }, privateKey);
}

/** Signs the payload as it stands, so that it can be ambiguous JSON. */
export async function signText(
  payload: string,
  header: Readonly<Record<string, unknown>>,
  key: KeyObject | Uint8Array,
): Promise<string> {
  const known = Object.fromEntries(Object.entries(header).filter(([, value]) => value !== undefined));
  return new CompactSign(Buffer.from(payload))
    .setProtectedHeader(known as unknown as CompactJWSHeaderParameters)
    .sign(key);
}

/** Without a signature, also if the header names an algorithm. */
export function unsigned(claims: object, header: object): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${encode(header)}.${encode(claims)}.`;
}

/** The last signature character with used bits is another one. */
export function withBrokenSignature(token: string): string {
  const at = token.lastIndexOf(".") + 5;
  return `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
}
