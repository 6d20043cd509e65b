/** The part of the state corpus that speaks JWT: algorithms, keys, header members and claims (bar CB-1, CB-5). */
import { createHmac } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { ATTACKER, asymmetric, compact, encode, headerOf, mac, payloadOf } from "./state-forge.ts";
import type { Json, StateTarget } from "./state-forge.ts";

/** Forgeries by name. */
export function jwtForgeries(target: StateTarget): Record<string, string> {
  return { ...algorithms(target), ...keys(target), ...headers(target), ...claims(target) };
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

/** Members that would move trust into the token itself, and other readings of the same header; all signed with the right key. */
function headers(target: StateTarget): Record<string, string> {
  const [header, payload] = [headerOf(target), payloadOf(target)];
  const signed = (value: Json): string => compact(value, payload, target.key);
  const { typ: _, ...withoutTyp } = header;
  const jwk = ATTACKER.rsa.publicKey.export({ format: "jwk" });
  const extra: Json[] = [
    { jwk },
    { jku: "https://evil.example/jwks" },
    { x5u: "https://evil.example/chain" },
    { x5c: ["AAAA"] },
    { x5t: "AAAA" },
    { "x5t#S256": "AAAA" },
    { crit: [] },
    { crit: ["exp"] },
    { crit: ["b64"], b64: false },
    { crit: ["unknown"], unknown: 1 },
    { b64: false },
    { b64: true },
    { cty: "JWT" },
    { zip: "DEF" },
    { enc: "A256GCM" },
    { epk: jwk },
    { iss: target.audience },
    { aud: target.audience },
    { nonce: "AAAA" },
    { url: target.audience },
  ];
  const types = [
    "",
    "JWT",
    "jwt",
    "STATE+JWT",
    `application/${header.typ}`,
    `${header.typ} `,
    "at+jwt",
    "session+jwt",
    "code+jwt",
    null,
    1,
    [header.typ],
  ];
  const text = JSON.stringify(header);
  const raw = [
    text.replaceAll(",", ", "),
    `${text}\n`,
    ` ${text}`,
    `\ufeff${text}`,
    text.replace("alg", "\\u0061lg"),
    `[${text}]`,
    "[]",
    "{}",
    "null",
    "1",
    `"${header.alg}"`,
    "",
    "{",
    `${text}}`,
  ];
  return {
    ...Object.fromEntries(
      extra.map((members) => [
        `header with ${JSON.stringify(members).slice(0, 40)}`,
        signed({ ...header, ...Object(members) }),
      ]),
    ),
    ...Object.fromEntries(types.map((typ) => [`typ ${JSON.stringify(typ)}`, signed({ ...header, typ })])),
    ...Object.fromEntries(raw.map((json) => [`header spelt ${JSON.stringify(json).slice(0, 60)}`, signed(json)])),
    "header without typ": signed(withoutTyp),
    "header in another order": signed({ kid: header.kid, typ: header.typ, alg: header.alg }),
    "embedded jwk, signed with it": asymmetric({ ...header, alg: "RS256", jwk }, payload, ATTACKER.rsa.privateKey),
    "jku, signed with what it would give": asymmetric(
      { ...header, alg: "ES256", jku: "https://evil.example/jwks" },
      payload,
      ATTACKER.ec.privateKey,
    ),
    "b64 false, payload not encoded": mac(
      `${encode(JSON.stringify({ ...header, b64: false, crit: ["b64"] }))}.${JSON.stringify(payload)}`,
      target.key,
    ),
  };
}

/** Claims that are missing, wrong, additional or spelt otherwise; all under a good header and signature. */
function claims(target: StateTarget): Record<string, string> {
  const [header, payload] = [headerOf(target), payloadOf(target)];
  const signed = (value: Json): string => compact(header, value, target.key);
  const { audience, now } = target;
  const members: Record<string, readonly unknown[]> = {
    aud: [
      undefined,
      "",
      `${audience}/`,
      audience.toUpperCase(),
      audience.slice(0, -1),
      "https://evil.example",
      [audience],
      [audience, "https://evil.example"],
      null,
      1,
    ],
    exp: [undefined, null, "", String(now + 590), 0, -1, now - 3600, now - 1, now, now + 0.5, 1e20, [now + 590]],
    iat: [undefined, null, String(now), now + 61, now + 3600, now - 0.5, 1e20, true],
    jti: [undefined, null, "", 1, ["Zm9v"], {}],
    ctx: [undefined, null, 1, ["Y29udGV4dA"], {}],
    iss: [audience, "https://evil.example"],
    nbf: [now - 10, now, now + 61],
    sub: ["user-1"],
    azp: ["platform"],
    code_verifier: ["dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"],
    nonce: ["n-0S6_WzA2Mj"],
    email: ["user@example.com"],
    redirect_uri: ["https://evil.example/callback"],
    constructor: ["x"],
  };
  const text = JSON.stringify(payload);
  const open = text.slice(0, -1);
  const raw = [
    `${open},"exp":9999999999}`,
    `{"exp":9999999999,${text.slice(1)}`,
    `${open},"jti":"b3RoZXI"}`,
    `${open},"__proto__":{"exp":9999999999}}`,
    text.replaceAll(",", ", "),
    ` ${text}`,
    `${text}\n`,
    `\ufeff${text}`,
    `${text}${text}`,
    text.replace("jti", "\\u006ati"),
    text.replace(String(payload.exp), `${payload.exp}.0`),
    text.replace(String(payload.exp), `${payload.exp / 10}e1`),
    `[${text}]`,
    "{}",
    "[]",
    "null",
    "1",
    JSON.stringify(text),
    '{"aud":',
  ];
  return {
    ...Object.fromEntries(
      Object.entries(members).flatMap(([name, values]) =>
        values.map((value) => [`${name} ${JSON.stringify(value) ?? "missing"}`, signed({ ...payload, [name]: value })]),
      ),
    ),
    ...Object.fromEntries(raw.map((json) => [`payload spelt ${JSON.stringify(json).slice(0, 250)}`, signed(json)])),
    "claims in another order": signed({
      exp: payload.exp,
      iat: payload.iat,
      ctx: payload.ctx,
      jti: payload.jti,
      aud: payload.aud,
    }),
    "a state inside a state": signed(JSON.stringify(compact(header, payload, target.key))),
    "compressed claims": mac(
      `${encode(JSON.stringify({ ...header, zip: "DEF" }))}.${encode(deflateRawSync(text))}`,
      target.key,
    ),
    "claims that are not UTF-8": mac(
      `${encode(JSON.stringify(header))}.${encode(Buffer.from(text.replace("Zm9v", "\u00e9"), "latin1"))}`,
      target.key,
    ),
  };
}
