import { describe, expect, it } from "vitest";
import { createByteCollector, isChopped } from "./byte-collector.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytesOf = (value: string): Uint8Array => new TextEncoder().encode(value);

describe("a body that arrives in chunks", () => {
  it("is what was sent, however it was cut", () => {
    const collector = createByteCollector(1_000);
    const sent = Array.from({ length: 60 }, (_, at) => `${at},`);
    for (const part of sent) expect(collector.add(bytesOf(part))).toBeUndefined();
    expect(text(collector.bytes())).toBe(sent.join(""));
    expect(text(createByteCollector(9).bytes())).toBe("");
  });

  it("is kept if it is the only chunk, and copied if part of a larger buffer", () => {
    const whole = bytesOf("a=1&b=2");
    const one = createByteCollector(64);
    one.add(whole);
    expect(one.bytes().buffer).toBe(whole.buffer);
    const slab = new Uint8Array(65_536).fill(97);
    const part = createByteCollector(64);
    part.add(slab.subarray(10, 13));
    expect(text(part.bytes())).toBe("aaa");
    expect(part.bytes().buffer.byteLength).toBe(3);
    expect(() => createByteCollector(64).add(slab)).not.toThrow();
  });

  it("does not change a chunk that it was given", () => {
    const first = bytesOf("abc");
    const collector = createByteCollector(64);
    collector.add(first);
    collector.add(bytesOf("def"));
    expect(text(first)).toBe("abc");
    expect(text(collector.bytes())).toBe("abcdef");
  });

  it("bar#HT-1 is refused beyond its limit, without the chunk that exceeds it", () => {
    const collector = createByteCollector(4);
    expect(collector.add(bytesOf("abc"))).toBeUndefined();
    expect(collector.add(bytesOf("de"))).toBe("too_large");
    expect(text(collector.bytes())).toBe("abc");
  });

  it("bar#HT-1 may have 256 chunks, and one more for each 256 bytes", () => {
    const one = bytesOf("a");
    const collector = createByteCollector(100_000);
    for (let count = 0; count < 256; count += 1) expect(collector.add(one)).toBeUndefined();
    // The 257th is allowed, for there are 257 bytes; the 258th is not.
    expect(collector.add(one)).toBeUndefined();
    expect(collector.add(one)).toBe("chopped");
    expect([isChopped(256, 0), isChopped(257, 255), isChopped(257, 256)]).toEqual([false, true, false]);
  });

  it("takes a large body in the packets that networks carry, and holds at most twice its size", () => {
    const packet = new Uint8Array(536).fill(97);
    const collector = createByteCollector(1_048_576);
    let size = 0;
    for (; size + 536 <= 1_048_576; size += 536) expect(collector.add(packet)).toBeUndefined();
    expect(collector.bytes().length).toBe(size);
    expect(collector.bytes().buffer.byteLength).toBeLessThanOrEqual(1_048_576);
  });
});
