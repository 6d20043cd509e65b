import { expect, it } from "vitest";
import { checkMutations } from "./check-mutations.ts";
import type { Mutation } from "./mutation.ts";

const FILES = new Map([
  ["a/door.ts", "if (isClosed) throw e;"],
  ["a/door.test.ts", ""],
  ["a/door.twin.test.ts", ""],
]);
const GOOD: Mutation = {
  defence: "A door is closed",
  rows: ["CB-1"],
  file: "a/door.ts",
  find: "isClosed",
  replace: "false",
  tests: ["a/door.test.ts"],
};
const check = (...mutations: readonly Mutation[]): string[] =>
  checkMutations(mutations, { textOf: (path) => FILES.get(path), rows: new Set(["CB-1"]) }).map((problem) =>
    problem.replace(`the defence '${GOOD.defence}': `, ""),
  );

it("a mutation may take out what occurs once, with a test and a row that there are", () => {
  expect(check(GOOD)).toEqual([]);
});

it.each<[what: string, mutation: Partial<Mutation>, problem: string]>([
  ["what is not there", { find: "isOpen" }, "the text to find occurs 0 times in a/door.ts, and must occur once"],
  ["what is there twice", { find: "e" }, "the text to find occurs 2 times in a/door.ts, and must occur once"],
  ["what it puts back", { replace: "isClosed" }, "it replaces nothing"],
  ["what no test notices", { tests: [] }, "no test has a title for it"],
  ["what its twin notices", { tests: ["a/door.twin.test.ts"] }, "a/door.twin.test.ts is no test, or a twin"],
  ["what a lost test notices", { tests: ["a/gone.test.ts"] }, "a/gone.test.ts does not exist"],
  ["a row that there is not", { rows: ["CB-9"] }, "there is no row CB-9"],
])("a mutation may not take out %s", (_, change, problem) => {
  expect(check({ ...GOOD, ...change })).toContain(problem);
});

it("two mutations may not have one name", () => {
  expect(check(GOOD, GOOD)).toEqual(["there is another of this name"]);
});
