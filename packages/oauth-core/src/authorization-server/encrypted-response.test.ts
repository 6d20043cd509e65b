import { systemTimer } from "../mechanics/system-timer.ts";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { compactDecrypt, decodeProtectedHeader, errors, type JWK } from "jose";
import { describe, expect, it } from "vitest";
import type { Fetch } from "../ports.ts";
import { parseExactJson } from "../mechanics/exact-json.ts";
import { fixedClock } from "../testing/fixed-clock.ts";
import {
  createResponseEncryption,
  type EncryptedResponse,
  findEncryptionKey,
  RESPONSE_ENCRYPTION_ALGS,
  RESPONSE_ENCRYPTION_ENCS,
  type ResponseEncryptionAlg,
} from "./encrypted-response.ts";

const NOW = 1_700_000_000;
const JWKS_URI = "https://platform.example/jwks.json";
const BODY = { access_token: "canary-token", token_type: "Bearer", vendor_data: { ü: 1 } };

type Curve = "P-256" | "P-384" | "P-521" | "secp256k1" | "x25519" | "rsa";

interface Pair {
  readonly jwk: JWK;
  readonly privateKey: KeyObject;
}

function newPair(curve: Curve, members: Partial<JWK> = {}): Pair {
  const pair =
    curve === "rsa"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : curve === "x25519"
        ? generateKeyPairSync("x25519")
        : generateKeyPairSync("ec", { namedCurve: curve });
  return { jwk: { ...(pair.publicKey.export({ format: "jwk" }) as JWK), ...members }, privateKey: pair.privateKey };
}

const ec = newPair("P-256", { kid: "ec", use: "enc" });
const rsa = newPair("rsa", { kid: "rsa", use: "enc" });

/** A client's key set on the web; `answer` may be changed between two requests. */
function published(keys: readonly unknown[]) {
  const now = fixedClock(NOW);
  const web = { answer: (): Response => Response.json({ keys }), count: 0 };
  const fetch: Fetch = async () => {
    web.count += 1;
    return web.answer();
  };
  const encryption = createResponseEncryption({ fetch, now, timer: systemTimer });
  const encrypt = async (registered: Partial<EncryptedResponse> = {}) => {
    const client = { alg: "ECDH-ES", enc: "A256GCM", jwksUri: JWKS_URI, alsoSigns: false, ...registered };
    return (await encryption.prepare(client as EncryptedResponse))(BODY);
  };
  return { web, now, encrypt };
}

/** For keys that are given, not fetched. */
const { prepare } = createResponseEncryption({
  fetch: async () => Response.error(),
  now: fixedClock(NOW),
  timer: systemTimer,
});
const encryptTo = async (key: JWK, alg: ResponseEncryptionAlg, enc: EncryptedResponse["enc"] = "A256GCM") =>
  (await prepare({ alg, enc, key }))(BODY);

/** Decrypts as a client does: with no algorithms but the ones it registered. */
const open = async (jwe: string, { privateKey }: Pair, alg: string, enc = "A256GCM"): Promise<unknown> => {
  const { plaintext } = await compactDecrypt(jwe, privateKey, {
    keyManagementAlgorithms: [alg],
    contentEncryptionAlgorithms: [enc],
  });
  return JSON.parse(Buffer.from(plaintext).toString("utf8")) as unknown;
};

const refused = (reason: string) =>
  expect.objectContaining({ code: "temporarily_unavailable", status: 503, extras: { reason } });

describe("an encrypted answer", () => {
  const pairs: readonly [ResponseEncryptionAlg, Curve][] = [
    ...RESPONSE_ENCRYPTION_ALGS.filter((alg) => alg !== "RSA-OAEP-256").flatMap((alg) =>
      (["P-256", "P-384", "P-521", "x25519"] as const).map((curve): [typeof alg, Curve] => [alg, curve]),
    ),
    ["RSA-OAEP-256", "rsa"],
  ];

  it.each(pairs.flatMap(([alg, curve]) => RESPONSE_ENCRYPTION_ENCS.map((enc) => [alg, curve, enc] as const)))(
    "rfc7518#4.1 rfc7518#5.1 rfc7516#7.1 is %s to %s with %s, and opens with that key alone",
    async (alg, curve, enc) => {
      const pair = newPair(curve, { kid: "k1", use: "enc" });
      const jwe = await encryptTo(pair.jwk, alg, enc);
      expect(jwe.split(".")).toHaveLength(5);
      expect(await open(jwe, pair, alg, enc)).toEqual(BODY);
      await expect(open(jwe, newPair(curve), alg, enc)).rejects.toThrow("decryption operation failed");
    },
  );

  it("rfc7519#5.1 says in its header what it is and for which key, and is never compressed", async () => {
    const header = decodeProtectedHeader(await encryptTo(rsa.jwk, "RSA-OAEP-256"));
    expect(header).toEqual({ alg: "RSA-OAEP-256", enc: "A256GCM", typ: "JWT", kid: "rsa" });
    const { kid: _kid, ...nameless } = rsa.jwk;
    expect(decodeProtectedHeader(await encryptTo(nameless, "RSA-OAEP-256"))).not.toHaveProperty("kid");
  });

  it("has a vendor's numbers with their digits", async () => {
    const body = '{"vendor_data":{"user_id":17841405822304915,"rate":1.0}}';
    const encrypt = await prepare({ alg: "ECDH-ES", enc: "A256GCM", key: ec.jwk });
    const { plaintext } = await compactDecrypt(await encrypt(parseExactJson(body) as object), ec.privateKey);
    expect(new TextDecoder().decode(plaintext)).toBe(body);
  });

  it("differs each time: no key and no IV is used twice", async () => {
    const [one, other] = [await encryptTo(ec.jwk, "ECDH-ES"), await encryptTo(ec.jwk, "ECDH-ES")];
    expect(decodeProtectedHeader(one)["epk"]).not.toEqual(decodeProtectedHeader(other)["epk"]);
    expect(one.split(".")[2]).not.toBe(other.split(".")[2]);
  });

  it("does not decrypt when any part is altered", async () => {
    const jwe = await encryptTo(ec.jwk, "ECDH-ES");
    for (const part of [0, 2, 3, 4]) {
      const parts = jwe.split(".");
      const text = parts[part] ?? "";
      parts[part] = `${text.slice(0, -3)}${text.at(-3) === "A" ? "B" : "A"}${text.slice(-2)}`;
      await expect(open(parts.join("."), ec, "ECDH-ES"), `part ${part}`).rejects.toBeInstanceOf(errors.JOSEError);
    }
  });

  it("takes keys that name their operations as WebCrypto does", async () => {
    for (const key_ops of [[], ["deriveKey", "deriveBits"]]) {
      expect(await open(await encryptTo({ ...ec.jwk, key_ops }, "ECDH-ES"), ec, "ECDH-ES")).toEqual(BODY);
    }
    const jwe = await encryptTo({ ...rsa.jwk, key_ops: ["encrypt"] }, "RSA-OAEP-256");
    expect(await open(jwe, rsa, "RSA-OAEP-256")).toEqual(BODY);
  });

  it("refuses a key that cannot be used before there is anything to encrypt, every time", async () => {
    // A point of order 1: every key agreement with it yields zeros.
    const low = { kty: "OKP", crv: "X25519", x: Buffer.alloc(32).toString("base64url"), use: "enc" };
    for (const enc of RESPONSE_ENCRYPTION_ENCS) {
      const prepared = prepare({ alg: "ECDH-ES", enc, key: low });
      await expect(prepared).rejects.toEqual(refused("client_key_missing"));
    }
  });
});

describe("the key of a set", () => {
  const plain = newPair("P-256", { kid: "plain" }).jwk;
  const older = { ...ec.jwk, kid: "older" };
  const kid = (keys: JWK[], alg: ResponseEncryptionAlg = "ECDH-ES", alsoSigns = false): string | undefined =>
    findEncryptionKey(keys, alg, alsoSigns)?.kid;

  it("is the first that fits", () => {
    expect(kid([rsa.jwk, ec.jwk, older])).toBe("ec");
    expect(kid([older, ec.jwk])).toBe("older");
    expect(kid([ec.jwk, rsa.jwk], "RSA-OAEP-256")).toBe("rsa");
    expect(kid([])).toBeUndefined();
  });

  it("is of the registered algorithm where it names one", () => {
    expect(kid([{ ...ec.jwk, alg: "ECDH-ES+A256KW" }])).toBeUndefined();
    expect(kid([{ ...ec.jwk, alg: "ECDH-ES+A256KW" }], "ECDH-ES+A256KW")).toBe("ec");
    expect(kid([{ ...rsa.jwk, alg: "RSA-OAEP" }], "RSA-OAEP-256")).toBeUndefined();
  });

  it("rfc7517#4.2 is one with use enc; one without use only if no key signs", () => {
    expect(kid([plain, ec.jwk])).toBe("ec");
    expect(kid([plain, { ...plain, kid: "alg", alg: "ECDH-ES" }])).toBe("alg");
    expect(kid([plain, { ...plain, kid: "ops", key_ops: ["deriveBits"] }])).toBe("ops");
    expect(kid([plain])).toBe("plain");
    expect(kid([plain], "ECDH-ES", true)).toBeUndefined();
    expect(kid([{ ...plain, key_ops: [] }], "ECDH-ES", true)).toBeUndefined();
  });

  it("is on a curve of the algorithm", () => {
    expect(kid([newPair("secp256k1", { use: "enc", kid: "k" }).jwk])).toBeUndefined();
    const ed = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }) as JWK;
    expect(kid([{ ...ed, use: "enc", kid: "ed" }])).toBeUndefined();
  });
});

describe("keys that a client publishes", () => {
  it("are fetched once for many answers, and the new key is used after a re-read", async () => {
    const next = newPair("P-256", { kid: "next", use: "enc" });
    const { web, now, encrypt } = published([ec.jwk]);
    expect(await open(await encrypt(), ec, "ECDH-ES")).toEqual(BODY);
    web.answer = () => Response.json({ keys: [next.jwk, ec.jwk] });
    expect(await open(await encrypt(), ec, "ECDH-ES")).toEqual(BODY);
    expect(web.count).toBe(1);
    now.advance(601);
    expect(await open(await encrypt(), next, "ECDH-ES")).toEqual(BODY);
    expect(web.count).toBe(2);
  });

  it.each<[string, () => Response]>([
    ["an outage", () => new Response("", { status: 500 })],
    ["a redirect", () => new Response("", { status: 302, headers: { location: "https://elsewhere.example" } })],
    ["a page", () => new Response("<html>")],
    ["no key set", () => Response.json({ keys: {} })],
    ["a refusal", () => new Response("", { status: 404 })],
    [
      "no connection",
      () => {
        throw new Error("down");
      },
    ],
  ])("that cannot be read are an outage that says whose: %s", async (_, answer) => {
    const { web, encrypt } = published([]);
    web.answer = answer;
    await expect(encrypt()).rejects.toEqual(refused("client_keys_unavailable"));
  });

  it.each<[string, JWK]>([
    ["a key for signatures", { ...ec.jwk, use: "sig" }],
    ["a key of another algorithm", rsa.jwk],
    ["a private key", newPairWithPrivate()],
    ["a curve that is not supported", newPair("secp256k1", { use: "enc" }).jwk],
  ])("without a suitable one are fetched again, at most twice a minute, and reported: %s", async (_, key) => {
    const { web, now, encrypt } = published([key]);
    await expect(encrypt()).rejects.toEqual(refused("client_key_missing"));
    await expect(encrypt()).rejects.toEqual(refused("client_key_missing"));
    expect(web.count).toBe(2);
    web.answer = () => Response.json({ keys: [ec.jwk] });
    now.advance(31);
    expect(await open(await encrypt(), ec, "ECDH-ES")).toEqual(BODY);
  });
});

function newPairWithPrivate(): JWK {
  return { ...(newPair("P-256").privateKey.export({ format: "jwk" }) as JWK), use: "enc" };
}
