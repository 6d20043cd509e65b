import { expect, it } from "vitest";
import { createEnvironmentReader } from "./environment.ts";
import { readSecret } from "./secret-text.ts";

it.each([
  ["s3cret", "s3cret"],
  ["s3cret\n", "s3cret"],
  ["s3cret\r\n", "s3cret"],
  ["s3cret\r\n\n", "s3cret"],
  ["\uFEFFs3cret", "s3cret"],
  ["\uFEFFs3cret\r\n", "s3cret"],
  [`a b'c"d`, `a b'c"d`],
  ["18446744073709551616", "18446744073709551616"],
])("takes %j as %j (h11)", (text, value) => {
  expect(readSecret(text)).toEqual({ value });
});

it.each([
  [" s3cret", "must not begin or end with white space"],
  ["s3cret\t", "must not begin or end with white space"],
  ["s3cret \n", "must not begin or end with white space"],
  ["\ns3cret", "must not begin or end with white space"],
  ["s3cret\u00a0", "must not begin or end with white space"],
  ["s3cret\uFEFF", "must not begin or end with white space"],
  ['"s3cret"', "must not begin or end with a quotation mark"],
  ["'s3cret'", "must not begin or end with a quotation mark"],
  ['s3cret"', "must not begin or end with a quotation mark"],
  ['"s3cret"\n', "must not begin or end with a quotation mark"],
  ["s3\ncret", expect.stringContaining("control character")],
  ["s3\0cret", expect.stringContaining("control character")],
  ["\n", "is empty"],
  ["\uFEFF", "is empty"],
  ["x".repeat(2_049), expect.stringContaining("2048")],
])("refuses %j", (text, problem) => {
  expect(readSecret(text)).toEqual({ problem });
});

it("a variable is read by the same rule, and its value is not repeated", () => {
  const shape = { type: "secret", example: "…" };
  const read = createEnvironmentReader({ A: "\uFEFFs3cret\n", B: " s3cret", C: "s3cret\n" }, () => shape);
  expect(read.secret("A")).toBe("s3cret");
  expect(read.secret("B")).toBeUndefined();
  expect(read.secret("C", () => "must be another")).toBeUndefined();
  expect(read.secret("D")).toBeUndefined();
  expect(read.problems.map(({ path, problem }) => `${path} ${problem}`)).toEqual([
    "B must not begin or end with white space",
    "C must be another",
  ]);
  expect(JSON.stringify(read.problems)).not.toContain("s3cret");
});
