import { describe, expect, it } from "vitest";
import { createEnvironmentReader, splitList, startFolder, valueOf } from "./environment.ts";

const SHAPE = { type: "a shape", example: "good" };
const read = (environment: Record<string, string>) => createEnvironmentReader(environment, () => SHAPE);
const isShort = (value: string): string | undefined => (value.length < 4 ? undefined : "must be short");

describe("a reader of the environment", () => {
  it("takes what passes, and an empty variable for one that is not set", () => {
    const reader = read({ A: "abc", B: "", C: "true", D: "12", E: "x" });
    expect(reader.value("B")).toBeUndefined();
    expect(reader.text("A", isShort)).toBe("abc");
    expect(reader.flag("C")).toBe(true);
    expect(reader.flag("B")).toBe(false);
    expect(reader.integer("D", { least: 1, most: 12 })).toBe(12);
    expect(reader.choice("E", ["x", "y"])).toBe("x");
    expect(reader.problems).toEqual([]);
  });

  it("reports every problem, with the expected format and without the value", () => {
    const reader = read({ A: "a-secret", B: "a-secret", C: "1e3", D: "13", E: "a-secret" });
    expect(reader.text("A", isShort)).toBeUndefined();
    expect(reader.flag("B")).toBe(false);
    expect(reader.integer("C", { least: 1, most: 9_999 })).toBeUndefined();
    expect(reader.integer("D", { least: 1, most: 12 })).toBeUndefined();
    expect(reader.choice("E", ["x", "y"])).toBeUndefined();
    reader.refuse("F", "is missing");
    expect(reader.problems.map(({ path, problem }) => `${path} ${problem}`)).toEqual([
      "A must be short",
      "B must be true or false",
      "C must be a whole number from 1 to 9999",
      "D must be a whole number from 1 to 12",
      "E must be x or y",
      "F is missing",
    ]);
    expect(reader.problems[0]).toMatchObject({ expected: "a shape", example: "A=good" });
    expect(JSON.stringify(reader.problems)).not.toContain("secret");
  });

  it("says that a value which reads right has something around it", () => {
    const reader = read({ A: "true\n", B: '"abc"', C: " 12", D: "'a,b" });
    expect([reader.flag("A"), reader.text("B", isShort), reader.integer("C", { least: 1, most: 12 })]).toEqual([
      false,
      undefined,
      undefined,
    ]);
    expect(reader.list("D", (entry) => (entry === "b" ? undefined : "must be b"))).toEqual(["b"]);
    const around = expect.stringMatching(/^\w.*; it begins or ends with white space or a quotation mark$/);
    expect(reader.problems.map(({ problem }) => problem)).toEqual([around, around, around, around]);
  });

  it("leaves out list entries that do not pass, and reports each fault once", () => {
    const reader = read({ A: " one, two,,one , too long, longer too " });
    expect(reader.list("A", isShort)).toEqual(["one", "two"]);
    expect(reader.problems.map(({ problem }) => problem)).toEqual(["has an entry that must be short"]);
  });
});

it("a list in a variable has each entry once, without spaces", () => {
  expect(splitList(" a,b, a ,,")).toEqual(["a", "b"]);
  expect(splitList()).toEqual([]);
});

it("a variable that is set to nothing is not set, and npm says where it was called", () => {
  expect(valueOf({ A: "" }, "A")).toBeUndefined();
  expect(startFolder({ INIT_CWD: "/called/here" })).toBe("/called/here");
  expect(startFolder({ INIT_CWD: "" })).toBe(process.cwd());
});
