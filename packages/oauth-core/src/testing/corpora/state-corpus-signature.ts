/** The part of the state corpus about who signed it, and how: algorithms and keys (bar CB-1). */
import { createHmac } from "node:crypto";
import { ATTACKER, asymmetric, compact, headerOf, payloadOf } from "./state-forge.ts";
import type { StateTarget } from "./state-forge.ts";

/** Forgeries by name. */
export function signatureForgeries(target: StateTarget): Record<string, string> {
  return { ...algorithms(target), ...keys(target) };
}

function algorithms(target: StateTarget): Record<string, string> {
  const [header, payload] = [headerOf(target), payloadOf(target)];
  const claimed = [
    "none",
    "None",
    "NONE",
    "nOnE",
    "",
    "hs256",
    "HS256 ",
    "HS1",
    "HS384",
    "HS512",
    "RS256",
    "PS256",
    "ES256",
    "EdDSA",
    "dir",
    null,
    0,
    true,
    ["HS256"],
    {},
  ];
  const { alg: _, ...withoutAlg } = header;
  const unsigned = (alg: string): string => compact({ ...header, alg }, payload, "").replace(/[^.]*$/, "");
  return {
    ...Object.fromEntries(
      claimed.map((alg) => [
        `alg ${JSON.stringify(alg)} over a good HMAC`,
        compact({ ...header, alg }, payload, target.key),
      ]),
    ),
    "no alg": compact(withoutAlg, payload, target.key),
    "none without signature": unsigned("none"),
    "None without signature": unsigned("None"),
    "NONE without signature": unsigned("NONE"),
    "none with any signature": `${unsigned("none")}AAAA`,
    "HS384, truly": compact({ ...header, alg: "HS384" }, payload, target.key, "sha384"),
    "HS512, truly": compact({ ...header, alg: "HS512" }, payload, target.key, "sha512"),
    "HS256 in the header, sha512 below": compact(header, payload, target.key, "sha512"),
    "RS256 by the attacker": asymmetric({ ...header, alg: "RS256" }, payload, ATTACKER.rsa.privateKey),
    "ES256 by the attacker": asymmetric({ ...header, alg: "ES256" }, payload, ATTACKER.ec.privateKey),
    "EdDSA by the attacker": asymmetric({ ...header, alg: "EdDSA" }, payload, ATTACKER.ed.privateKey),
    "HS256 in the header, an RSA signature below": asymmetric(header, payload, ATTACKER.rsa.privateKey),
    "none first, HS256 second": compact(`{"alg":"none",${JSON.stringify(header).slice(1)}`, payload, target.key),
    "HS256 first, none second": compact(`${JSON.stringify(header).slice(0, -1)},"alg":"none"}`, payload, target.key),
  };
}

function keys(target: StateTarget): Record<string, string> {
  const [header, payload] = [headerOf(target), payloadOf(target)];
  const pem = ATTACKER.rsa.publicKey.export({ format: "pem", type: "spki" });
  const guesses: Record<string, Buffer | string> = {
    "an RSA public key, PEM": pem,
    "an RSA public key, PEM without its last line break": pem.toString().trimEnd(),
    "an RSA public key, DER": ATTACKER.rsa.publicKey.export({ format: "der", type: "spki" }),
    "a public key, JWK": JSON.stringify(ATTACKER.ec.publicKey.export({ format: "jwk" })),
    nothing: "",
    "the kid": target.kid,
    "the audience": target.audience,
    "the word secret": "secret",
    "32 other bytes": Buffer.alloc(32, 0x5a),
    "the key in hex": target.key.toString("hex"),
    "the key in base64": target.key.toString("base64"),
    "the key in base64url": target.key.toString("base64url"),
    "the key without its last byte": target.key.subarray(0, -1),
    "the key hashed": createHmac("sha256", "").update(target.key).digest(),
  };
  const kids = [
    "",
    " ",
    "k0",
    "K1",
    `${target.kid} `,
    `${target.kid}\0`,
    `${target.kid}\n`,
    "../../../../dev/null",
    "' OR 1=1 --",
    "__proto__",
    "constructor",
    "toString",
    "https://evil.example/key",
    "kéy",
    "k".repeat(129),
    null,
    1,
    true,
    [target.kid],
    { kid: target.kid },
  ];
  const { kid: _, ...withoutKid } = header;
  return {
    ...Object.fromEntries(
      Object.entries(guesses).map(([name, key]) => [`signed with ${name}`, compact(header, payload, key)]),
    ),
    ...Object.fromEntries(
      kids.map((kid) => [`kid ${JSON.stringify(kid).slice(0, 30)}`, compact({ ...header, kid }, payload, target.key)]),
    ),
    "no kid": compact(withoutKid, payload, target.key),
    "kid of a device, signed with nothing": compact({ ...header, kid: "/dev/null" }, payload, ""),
    "kid of the prototype, signed with nothing": compact({ ...header, kid: "__proto__" }, payload, ""),
    "two kids": compact(`${JSON.stringify(header).slice(0, -1)},"kid":"k0"}`, payload, target.key),
  };
}
