import fc from "fast-check";
import { decodeProtectedHeader, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import { fixedClock } from "../testing/fixed-clock.ts";
import { stateForgeries, validState } from "../testing/corpora/state-corpus.ts";
import { compact, headerOf, payloadOf } from "../testing/corpora/state-forge.ts";
import { OAuthError } from "./errors.ts";
import { createStateCodec } from "./state.ts";
import type { MacKeys, StateClaims } from "./state.ts";
import { anyText } from "../testing/any-text.ts";

const NOW = 1_700_000_000;
const KEY = Buffer.alloc(32, 1);
const OLD_KEY = Buffer.alloc(32, 2);
const AUDIENCE = "https://broker.example.com";
const TARGET = { key: KEY, kid: "k1", audience: AUDIENCE, now: NOW };
const CLAIMS: StateClaims = {
  jti: "Zm9vYmFyYmF6cXV4Zm9vYg",
  contextHash: "Y29udGV4dA",
  issuedAt: NOW,
  expiresAt: NOW + 600,
};
const REFUSED = expect.objectContaining({ code: "invalid_request", status: 400 });

function keysOf(kid: string, all: Record<string, Buffer>): MacKeys & { readonly asked: string[] } {
  const known = new Map(Object.entries(all));
  const asked: string[] = [];
  const find = async (id: string): Promise<Buffer | undefined> => {
    asked.push(id);
    return known.get(id);
  };
  return { active: () => ({ kid, key: known.get(kid) ?? Buffer.alloc(32) }), find, asked };
}

const keys = keysOf("k1", { k1: KEY, k0: OLD_KEY });
const codec = createStateCodec({ keys, audience: AUDIENCE, now: () => NOW });

describe("a state of ours", () => {
  it("comes back as it was signed", async () => {
    await expect(codec.verify(codec.sign(CLAIMS))).resolves.toEqual(CLAIMS);
  });

  it("rfc7519#7.2 is a JWT that others read the same way", async () => {
    const { payload, protectedHeader } = await jwtVerify(codec.sign(CLAIMS), KEY, {
      audience: AUDIENCE,
      typ: "state+jwt",
      algorithms: ["HS256"],
      currentDate: new Date(NOW * 1000),
    });
    expect(protectedHeader).toEqual({ alg: "HS256", typ: "state+jwt", kid: "k1" });
    expect(payload["jti"]).toBe(CLAIMS.jti);
  });

  it("bar#CB-6 holds the flow's id, the context hash and times, and nothing else", () => {
    const canaries = {
      codeVerifier: "canary-verifier",
      nonce: "canary-nonce",
      email: "canary@example.com",
      secret: "canary-secret",
    };
    const state = codec.sign({ ...CLAIMS, ...canaries });
    const [header = "", payload = ""] = state.split(".").map((part) => Buffer.from(part, "base64url").toString());
    expect(Object.keys(JSON.parse(payload))).toEqual(["aud", "jti", "ctx", "iat", "exp"]);
    expect(header + payload).not.toContain("canary");
  });

  it("is short enough for any vendor", () => {
    expect(codec.sign({ ...CLAIMS, jti: "a".repeat(43), contextHash: "b".repeat(43) }).length).toBeLessThan(400);
  });

  it("has at most 1024 characters, which is what is read", async () => {
    const padded = (length: number): string => codec.sign({ ...CLAIMS, contextHash: "a".repeat(length) });
    // Three characters of payload are four of base64url: walk up to the last length that fits.
    const lengths = Array.from({ length: 800 }, (_, index) => index).filter((length) => {
      try {
        return padded(length).length > 0;
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
        return false;
      }
    });
    const longest = padded(lengths.at(-1) ?? 0);
    expect(longest.length).toBeGreaterThan(1020);
    expect(longest.length).toBeLessThanOrEqual(1024);
    await expect(codec.verify(longest)).resolves.toBeDefined();
  });
});

describe("a state that is not ours", () => {
  const forgeries = stateForgeries(TARGET);

  it("the corpus is whole, and its model is a state that is accepted", async () => {
    expect(forgeries.length).toBeGreaterThanOrEqual(150);
    expect(new Set(forgeries.map(({ state }) => state)).size).toBe(forgeries.length);
    await expect(codec.verify(validState(TARGET))).resolves.toMatchObject({ jti: payloadOf(TARGET).jti });
  });

  it.each(forgeries)("bar#CB-1 refuses $name", async ({ state }) => {
    await expect(codec.verify(state)).rejects.toThrow(REFUSED);
  });

  it.each(stateForgeries({ ...TARGET, key: Buffer.alloc(32, 9) }))(
    "bar#CB-1 refuses, without our key, $name",
    async ({ state }) => {
      await expect(codec.verify(state)).rejects.toThrow(REFUSED);
    },
  );

  it("bar#CB-3 has one accepted spelling, where a lenient reader has many", async () => {
    const state = validState(TARGET);
    const read = { currentDate: new Date(NOW * 1000) };
    for (const spelling of [`${state}=`, `${state} `, `${state}\n`, state.replace(/\.([^.]*)$/, ". $1")]) {
      await expect(jwtVerify(spelling, KEY, read)).resolves.toBeDefined();
      await expect(codec.verify(spelling)).rejects.toThrow(REFUSED);
    }
  });

  it("has one message for every fault", async () => {
    const answers = await Promise.all(
      forgeries.map(({ state }) => codec.verify(state).catch((error: OAuthError) => error)),
    );
    const seen = new Set(
      answers.map((error) =>
        error instanceof OAuthError ? `${error.description} ${error.extras.reason}` : "accepted",
      ),
    );
    expect([...seen].toSorted()).toEqual(["state has expired state_expired", "state is not valid invalid_state"]);
  });

  it("throws nothing but OAuthError", async () => {
    const nearly = fc.tuple(fc.json(), fc.json()).map(([header, payload]) => compact(header, payload, KEY));
    const signed = fc.json().map((payload) => compact(headerOf(TARGET), payload, KEY));
    const segments = fc.array(fc.base64String(), { minLength: 2, maxLength: 4 }).map((parts) => parts.join("."));
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyText(fc), nearly, signed, segments), async (text) => {
        const error = await codec.verify(text).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(OAuthError);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it("changes with every flipped bit", async () => {
    const state = codec.sign(CLAIMS);
    await fc.assert(
      fc.asyncProperty(fc.nat(state.length - 1), fc.nat(6), async (at, bit) => {
        const flipped = String.fromCharCode(state.charCodeAt(at) ^ (1 << bit));
        await expect(codec.verify(state.slice(0, at) + flipped + state.slice(at + 1))).rejects.toThrow(REFUSED);
      }),
      { seed: 1, numRuns: 200 },
    );
  });
});

describe("time", () => {
  const clock = fixedClock(NOW);
  const timed = createStateCodec({ keys, audience: AUDIENCE, now: clock });
  const state = timed.sign({ ...CLAIMS, expiresAt: NOW + 600 });

  it("rfc7519#4.1.4 is accepted up to the last second and refused from exp on", async () => {
    clock.advance(599);
    await expect(timed.verify(state)).resolves.toEqual(CLAIMS);
    clock.advance(1);
    await expect(timed.verify(state)).rejects.toMatchObject({
      code: "invalid_request",
      extras: { reason: "state_expired" },
    });
    await expect(timed.identify(state)).resolves.toEqual(CLAIMS);
    await expect(timed.identify(state.replace(/.$/, "_"))).rejects.toThrow(REFUSED);
  });

  it("rfc7519#4.1.6 allows a sister's clock to be 60 seconds ahead and no more", async () => {
    await expect(codec.verify(codec.sign({ ...CLAIMS, issuedAt: NOW + 60 }))).resolves.toBeDefined();
    await expect(codec.verify(codec.sign({ ...CLAIMS, issuedAt: NOW + 61 }))).rejects.toThrow(REFUSED);
  });
});

describe("purpose and audience", () => {
  const purposes = ["state+jwt", "session+jwt", "code+jwt", "csrf+jwt", "connection+jwt"];
  const pairs = purposes.flatMap((made) => purposes.filter((used) => used !== made).map((used) => ({ made, used })));

  it.each(pairs)("bar#CB-5 refuses a $made used as a $used, even under the same key", async ({ made, used }) => {
    const value = createStateCodec({ keys, audience: AUDIENCE, now: () => NOW, typ: made }).sign(CLAIMS);
    const other = createStateCodec({ keys, audience: AUDIENCE, now: () => NOW, typ: used });
    await expect(other.verify(value)).rejects.toThrow(REFUSED);
  });

  it("rfc8725#3.11 names the purpose in typ", () => {
    const typ = "cookie+jwt";
    expect(
      decodeProtectedHeader(createStateCodec({ keys, audience: AUDIENCE, now: () => NOW, typ }).sign(CLAIMS)).typ,
    ).toBe(typ);
  });

  it("rfc7519#4.1.3 refuses a state of another deployment under the same key", async () => {
    const other = createStateCodec({ keys, audience: "https://broker.example.org", now: () => NOW });
    await expect(codec.verify(other.sign(CLAIMS))).rejects.toThrow(REFUSED);
    await expect(codec.verify(other.sign(CLAIMS))).rejects.toMatchObject({ detail: "another audience" });
  });

  it("bar#CB-5 refuses another purpose's key of the same name", async () => {
    const other = createStateCodec({
      keys: keysOf("k1", { k1: Buffer.alloc(32, 3) }),
      audience: AUDIENCE,
      now: () => NOW,
    });
    await expect(codec.verify(other.sign(CLAIMS))).rejects.toThrow(REFUSED);
  });
});

describe("keys", () => {
  const before = createStateCodec({ keys: keysOf("k0", { k0: OLD_KEY }), audience: AUDIENCE, now: () => NOW });

  it("verifies a signature of an older key, and looks it up once", async () => {
    const rotated = keysOf("k1", { k1: KEY, k0: OLD_KEY });
    const after = createStateCodec({ keys: rotated, audience: AUDIENCE, now: () => NOW });
    await expect(after.verify(before.sign(CLAIMS))).resolves.toEqual(CLAIMS);
    await expect(after.verify(after.sign(CLAIMS))).resolves.toEqual(CLAIMS);
    expect(rotated.asked).toEqual(["k0"]);
  });

  it("signs with the new key as soon as it is active", async () => {
    let active = "k0";
    const rotating: MacKeys = {
      active: () => ({ kid: active, key: active === "k0" ? OLD_KEY : KEY }),
      find: (kid) => keys.find(kid),
    };
    const signing = createStateCodec({ keys: rotating, audience: AUDIENCE, now: () => NOW });
    expect(decodeProtectedHeader(signing.sign(CLAIMS)).kid).toBe("k0");
    active = "k1";
    expect(decodeProtectedHeader(signing.sign(CLAIMS)).kid).toBe("k1");
    await expect(codec.verify(signing.sign(CLAIMS))).resolves.toEqual(CLAIMS);
  });

  it("bar#CB-1 refuses an unknown kid", async () => {
    const stranger = createStateCodec({ keys: keysOf("k7", { k7: KEY }), audience: AUDIENCE, now: () => NOW });
    await expect(codec.verify(stranger.sign(CLAIMS))).rejects.toThrow(REFUSED);
  });

  it("rfc8725#3.1 never looks up the key of a header it would not have written", async () => {
    const watched = keysOf("k1", { k1: KEY });
    const watching = createStateCodec({ keys: watched, audience: AUDIENCE, now: () => NOW });
    const state = compact({ ...headerOf(TARGET), kid: "k0", alg: "none" }, payloadOf(TARGET), KEY);
    await expect(watching.verify(state)).rejects.toThrow(REFUSED);
    expect(watched.asked).toEqual([]);
  });

  it("passes on the error of an unreachable key store", async () => {
    const down = new OAuthError("temporarily_unavailable", "Keys are unreachable");
    const failing: MacKeys = { active: () => keys.active(), find: () => Promise.reject(down) };
    const waiting = createStateCodec({ keys: failing, audience: AUDIENCE, now: () => NOW });
    await expect(waiting.verify(before.sign(CLAIMS))).rejects.toBe(down);
  });

  it("rfc7518#3.2 never signs with a key shorter than the hash", () => {
    const weak = createStateCodec({ keys: keysOf("k1", { k1: Buffer.alloc(31) }), audience: AUDIENCE, now: () => NOW });
    expect(() => weak.sign(CLAIMS)).toThrow(RangeError);
  });

  it("never signs under a kid that could not be written plainly", () => {
    for (const kid of ["", 'k"1', "k 1", "k\n1", "é", "k".repeat(129)]) {
      expect(() =>
        createStateCodec({ keys: keysOf(kid, { [kid]: KEY }), audience: AUDIENCE, now: () => NOW }).sign(CLAIMS),
      ).toThrow(RangeError);
    }
  });
});
