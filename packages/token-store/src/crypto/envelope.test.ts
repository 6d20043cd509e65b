import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveKey, MAX_PLAINTEXT_BYTES, open, seal } from "./envelope.ts";
import { anyText, volume } from "@oauth-broker/oauth-core/testing";
import { TokenStoreError } from "../errors.ts";

const KEY = deriveKey("a key of tests", "envelope");
const OTHER_KEY = deriveKey("another key of tests", "envelope");
const CONTEXT = ["production", "tokens", "USER#u1", "VENDOR#github", "access_token", "https://id.example", "1"];
const OVERHEAD_BYTES = 61;

function refusalOf(act: () => unknown): TokenStoreError {
  try {
    act();
  } catch (error) {
    if (error instanceof TokenStoreError) return error;
    throw error;
  }
  throw new Error("not refused");
}

const flip = (bytes: Buffer, bit: number): string => {
  const flipped = Buffer.from(bytes);
  flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return flipped.toString("base64url");
};

describe("seal and open", () => {
  it.each([
    ["nothing", ""],
    ["text", "access token"],
    ["NUL and text beyond ASCII", "a\u0000b é \u{1f511}"],
    ["a token of 32 KiB", "t".repeat(32 * 1024)],
    ["the largest there is", "m".repeat(MAX_PLAINTEXT_BYTES)],
  ])("bar#TS-16 gives %s back", (_what, text) => {
    const sealed = seal(KEY, text, CONTEXT);
    expect(sealed).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(open(KEY, sealed, CONTEXT).toString("utf8")).toBe(text);
    expect(open(KEY, seal(KEY, Buffer.from(text), CONTEXT), CONTEXT)).toEqual(Buffer.from(text));
  });

  it("gives any bytes back under any context", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 20 });
    const context = fc.array(text, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), context, (bytes, place) => {
        expect(open(KEY, seal(KEY, Buffer.from(bytes), place), place)).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 200 },
    );
  });

  it("never seals one text the same way twice, and adds 61 bytes", () => {
    const all = Array.from({ length: 100 }, () => seal(KEY, "text", CONTEXT));
    expect(new Set(all).size).toBe(100);
    expect(Buffer.from(all[0]!, "base64url")).toHaveLength(OVERHEAD_BYTES + 4);
  });

  it("bar#TS-16 refuses what is larger than it says", () => {
    const large = Buffer.alloc(MAX_PLAINTEXT_BYTES + 1);
    expect(refusalOf(() => seal(KEY, large, CONTEXT)).code).toBe("too_large");
    expect(refusalOf(() => open(KEY, "A".repeat(360_000), CONTEXT)).code).toBe("too_large");
  });

  it.each<readonly [string, Buffer]>([
    ["bar#TS-13 refuses a key that its cache has overwritten with zeros", Buffer.alloc(32)],
    ...[0, 16, 24, 31, 33, 64].map((length) => [`refuses a key of ${length} bytes`, Buffer.alloc(length, 1)] as const),
  ])("%s", (_what, key) => {
    expect(refusalOf(() => seal(key, "text", CONTEXT)).code).toBe("key_invalid");
    expect(refusalOf(() => open(key, seal(KEY, "text", CONTEXT), CONTEXT)).code).toBe("key_invalid");
  });

  it("refuses a context of nothing, and text that UTF-8 cannot hold", () => {
    expect(refusalOf(() => seal(KEY, "text", [])).code).toBe("input_invalid");
    expect(refusalOf(() => open(KEY, seal(KEY, "text", CONTEXT), [])).code).toBe("input_invalid");
    expect(refusalOf(() => seal(KEY, "\ud800", CONTEXT)).code).toBe("input_invalid");
    expect(refusalOf(() => seal(KEY, "text", ["\udfff"])).code).toBe("input_invalid");
  });
});

describe("an altered envelope", () => {
  // 39 bytes of text: an envelope of exactly 100 bytes.
  const bytes = Buffer.from(seal(KEY, "t".repeat(39), CONTEXT), "base64url");

  it("bar#TS-2 is refused whichever one of its 800 bits is flipped", () => {
    expect(bytes).toHaveLength(100);
    for (let bit = 0; bit < 800; bit += 1) {
      const { code } = refusalOf(() => open(KEY, flip(bytes, bit), CONTEXT));
      expect(code).toBe(bit < 8 ? "format_unknown" : "unreadable");
    }
  });

  it("bar#TS-2 is refused with many of the bits of a long one flipped, one at a time", () => {
    const long = Buffer.from(seal(KEY, "t".repeat(4096), CONTEXT), "base64url");
    const flips = volume({ test: 1_000, soak: 10_000 });
    let bit = 8;
    for (let count = 0; count < flips; count += 1) {
      bit = 8 + ((bit * 48_271 + count) % ((long.length - 1) * 8)); // scattered, and the same in every run
      expect(refusalOf(() => open(KEY, flip(long, bit), CONTEXT)).code).toBe("unreadable");
    }
  });

  it("bar#TS-1 is refused at every shorter length, and with bytes behind or before it", () => {
    for (let length = 0; length < 100; length += 1) {
      const cut = bytes.subarray(0, length).toString("base64url");
      expect(refusalOf(() => open(KEY, cut, CONTEXT)).code).toBe("unreadable");
    }
    const zero = Buffer.alloc(1);
    for (const longer of [Buffer.concat([bytes, zero]), Buffer.concat([bytes, bytes])]) {
      expect(refusalOf(() => open(KEY, longer.toString("base64url"), CONTEXT)).code).toBe("unreadable");
    }
    const before = Buffer.concat([zero, bytes]).toString("base64url");
    expect(refusalOf(() => open(KEY, before, CONTEXT)).code).toBe("format_unknown");
  });

  it.each([0, 8, 11, 13, 16])("bar#TS-1 is refused with an IV of %d bytes", (length) => {
    const iv = Buffer.concat([bytes.subarray(33, 45), Buffer.alloc(4)]).subarray(0, length);
    const shifted = Buffer.concat([bytes.subarray(0, 33), iv, bytes.subarray(45)]);
    expect(refusalOf(() => open(KEY, shifted.toString("base64url"), CONTEXT)).code).toBe("unreadable");
  });

  it("bar#TS-1 is refused with every other version", () => {
    for (let version = 0; version < 256; version += 1) {
      if (version === 1) continue;
      const other = Buffer.concat([Buffer.of(version), bytes.subarray(1)]).toString("base64url");
      expect(refusalOf(() => open(KEY, other, CONTEXT)).code).toBe("format_unknown");
    }
  });

  it.each([
    ["padding", (sealed: string) => `${sealed}=`],
    ["a line end", (sealed: string) => `${sealed}\n`],
    ["a space inside", (sealed: string) => `${sealed.slice(0, 9)} ${sealed.slice(9)}`],
    ["the other base64 alphabet", (sealed: string) => sealed.replaceAll("-", "+").replaceAll("_", "/")],
    ["junk that a lenient decoder skips", (sealed: string) => `${sealed}!`],
    ["other unused bits", (sealed: string) => sealed.slice(0, -1) + nextCharacter(sealed.at(-1)!)],
  ])("bar#TS-1 is refused in another spelling of the same bytes: %s", (_what, respell) => {
    // 98 bytes leave unused bits in the last character; sealed until both signs of the alphabet
    // occur.
    let sealed = "";
    while (!sealed.includes("-") || !sealed.includes("_")) sealed = seal(KEY, "t".repeat(37), CONTEXT);
    const respelled = respell(sealed);
    expect(Buffer.from(respelled, "base64url")).toEqual(Buffer.from(sealed, "base64url"));
    expect(refusalOf(() => open(KEY, respelled, CONTEXT)).code).toBe("unreadable");
  });

  it("is refused for any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), anyText(fc)), (text) => {
        expect(["unreadable", "format_unknown"]).toContain(refusalOf(() => open(KEY, text, CONTEXT)).code);
      }),
      { numRuns: 200 },
    );
  });
});

function nextCharacter(character: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return alphabet[alphabet.indexOf(character) + 1]!;
}

describe("a moved envelope", () => {
  it.each<readonly [string, readonly string[]]>([
    ...CONTEXT.map((part, at) => [`another part than ${part}`, CONTEXT.with(at, `${part}x`)] as const),
    ["a part less", CONTEXT.slice(1)],
    ["the last part missing", CONTEXT.slice(0, -1)],
    ["an empty part more", [...CONTEXT, ""]],
    ["two parts exchanged", [CONTEXT[1]!, CONTEXT[0]!, ...CONTEXT.slice(2)]],
    ["two parts joined", [CONTEXT[0]! + CONTEXT[1]!, ...CONTEXT.slice(2)]],
    ["a part cut elsewhere", ["productio", "ntokens", ...CONTEXT.slice(2)]],
    ["access for refresh", CONTEXT.with(4, "refresh_token")],
  ])("bar#TS-3 is refused with %s", (_what, context) => {
    const sealed = seal(KEY, "text", CONTEXT);
    expect(refusalOf(() => open(KEY, sealed, context)).code).toBe("unreadable");
  });

  it("bar#TS-3 is refused under any other context, however its parts are cut", () => {
    // Parts of few characters and separators: most pairs that differ are the same text when joined.
    const part = fc.string({ unit: fc.constantFrom("a", "\0", ":"), maxLength: 3 });
    const context = fc.array(part, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(context, context, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        expect(refusalOf(() => open(KEY, seal(KEY, "text", one), other)).code).toBe("unreadable");
      }),
      { numRuns: 300 },
    );
  });

  it("bar#TS-3 is refused where a part looks like the end of one and the start of the next", () => {
    // Four bytes precede each part. If they were not its length, these two places would be one.
    const boundary = "\0".repeat(4);
    const sealed = seal(KEY, "text", [`a${boundary}b`, "c"]);
    expect(refusalOf(() => open(KEY, sealed, ["a", `b${boundary}c`])).code).toBe("unreadable");
  });

  it("bar#TS-5 is refused under another key", () => {
    expect(refusalOf(() => open(OTHER_KEY, seal(KEY, "text", CONTEXT), CONTEXT)).code).toBe("unreadable");
  });

  it("bar#TS-5 is refused under another key even when it names that key", () => {
    const mine = Buffer.from(seal(KEY, "text", CONTEXT), "base64url");
    const theirs = Buffer.from(seal(OTHER_KEY, "text", CONTEXT), "base64url");
    const renamed = Buffer.concat([mine.subarray(0, 1), theirs.subarray(1, 33), mine.subarray(33)]);
    expect(refusalOf(() => open(OTHER_KEY, renamed.toString("base64url"), CONTEXT)).code).toBe("unreadable");
    expect(refusalOf(() => open(KEY, renamed.toString("base64url"), CONTEXT)).code).toBe("unreadable");
  });
});

it("bar#TS-17 TokenStoreError shows neither key nor text nor envelope, however it is printed", () => {
  const text = "canary-of-the-text";
  const key = deriveKey("canary-of-the-key", "envelope");
  const sealed = seal(key, text, CONTEXT);
  const errors = [
    refusalOf(() => open(OTHER_KEY, sealed, CONTEXT)),
    refusalOf(() => open(key, sealed, ["elsewhere"])),
    refusalOf(() => open(key, `${sealed}=`, CONTEXT)),
    refusalOf(() => seal(key.subarray(1), text, CONTEXT)),
    refusalOf(() => deriveKey("", text)),
    refusalOf(() => seal(key, text.repeat(100_000), CONTEXT)),
  ];
  const secrets = [text, sealed, key.toString("hex"), key.toString("base64url"), inspect(key).slice(8, 40)];
  for (const error of errors) {
    const printed = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error) + String(error);
    for (const secret of secrets) expect(printed).not.toContain(secret);
  }
});
