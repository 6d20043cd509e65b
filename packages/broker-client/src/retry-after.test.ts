import { expect, it } from "vitest";
import { retryAfterOf } from "./retry-after.ts";

/** 1994-11-06T08:49:37Z, the example of RFC 9110 §5.6.7. */
const AT = 784_111_777;
const read = (value: string | undefined): number | undefined =>
  retryAfterOf(new Response(null, value === undefined ? {} : { headers: { "retry-after": value } }), () => AT - 100);

it.each<[string | undefined, number | undefined]>([
  ["7", 7],
  ["0", 1],
  ["86400", 86_400],
  ["999999999", 86_400],
  ["Sun, 06 Nov 1994 08:49:37 GMT", 100],
  ["Sunday, 06-Nov-94 08:49:37 GMT", 100],
  ["Sun Nov  6 08:49:37 1994", 100],
  ["Sun, 06 Nov 1994 08:40:37 GMT", undefined],
  ["Sun, 06 Foo 1994 08:49:37 GMT", undefined],
  ["1994-11-06T08:49:37Z", undefined],
  ["-1", undefined],
  ["soon", undefined],
  [undefined, undefined],
])("rfc9110#10.2.3 Retry-After %j is %j", (value, seconds) => {
  expect(read(value)).toBe(seconds);
});
