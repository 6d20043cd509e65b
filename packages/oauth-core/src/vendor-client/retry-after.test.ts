import { describe, expect, it } from "vitest";
import { parseRetryAfter } from "./retry-after.ts";

/** 1994-11-06T08:49:37Z, the example of RFC 9110 §5.6.7. */
const AT = 784_111_777;
const read = (value: string | null, now = AT - 100): number | undefined => parseRetryAfter(value, () => now);

describe("rfc9110#10.2.3 Retry-After", () => {
  it.each<[string, number]>([
    ["7", 7],
    ["0", 1],
    ["3600", 3600],
    ["86400", 86_400],
    ["86401", 86_400],
    ["99999999999999999999999999", 86_400],
    ["12.5", 13],
    ["50, 50", 50],
    ["50,60", 60],
    [" 50 ", 50],
  ])("%j means %i seconds", (value, seconds) => {
    expect(read(value)).toBe(seconds);
  });

  it.each(["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])(
    "rfc9110#5.6.7 may be a date: %s",
    (date) => {
      expect(read(date)).toBe(100);
      expect(read(date, AT)).toBe(1);
      expect(read(date, AT - 10 * 86_400)).toBe(86_400);
      expect(read(date, AT + 1)).toBeUndefined();
    },
  );

  it("rfc9110#5.6.7 reads a year of two digits as the nearest that is at most 50 years ahead", () => {
    const later = Date.UTC(2026, 10, 26) / 1000;
    expect(read("Sunday, 06-Nov-94 08:49:37 GMT", later)).toBeUndefined();
    expect(read("Thursday, 26-Nov-26 00:01:00 GMT", later)).toBe(60);
    expect(read("Friday, 26-Nov-27 00:01:00 GMT", later)).toBe(86_400);
  });

  it.each([null, "", "-1", "1e9", "soon", "5 seconds", "1,", "Sun, 06 Non 1994 08:49:37 GMT", "2026-11-26T00:00:00Z"])(
    "%j says nothing",
    (value) => {
      expect(read(value)).toBeUndefined();
    },
  );
});
