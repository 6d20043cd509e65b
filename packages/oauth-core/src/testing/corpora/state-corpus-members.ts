/**
 * The part of the state corpus about what was signed: header members and claims (bar CB-1, CB-5).
 */
import { deflateRawSync } from "node:zlib";
import { ATTACKER, asymmetric, compact, encode, headerOf, mac, payloadOf } from "./state-forge.ts";
import type { Json, StateTarget } from "./state-forge.ts";

/** Forgeries by name. */
export function memberForgeries(target: StateTarget): Record<string, string> {
  return { ...headers(target), ...claims(target) };
}

/**
 * Members that would make the token itself decide whom to trust, and other readings of the same
 * header; all signed with the right key.
 */
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

/**
 * Claims that are missing, wrong, additional or spelt differently; all under a valid header and
 * signature.
 */
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
