import { describe, expect, it } from "vitest";
import { parseSource } from "../sources.ts";
import { guardsOf } from "./guards.ts";
import { mutate } from "./mutation.ts";
import { testsOf } from "./tests.ts";

const SOURCE = `
//= rfc6749#2.3
export function open(age: number, name: string): string {
  //= rfc7636#4.6
  //= bar#CB-1
  // Why it is so.
  if (age < 18) throw new Error("too young");
  //= bar#CB-2
  log.take(name);
  //= bar#CB-3
  const door = 1;
  //= bar#CB-4
  if (door === 1) { log.take("x"); }
  //= bar#CB-5
  if (door === 2) return "a"; else return "b";
}
const key = (age: number, name?: string): number => {
  //= bar#CB-6
  const isOld = name === undefined || age > 9 && (isLong(name) || isAt(door));
  //= bar#CB-7
  if (isOld) return 1;
  throw new Error("no key");
};
function lock(key: number, door: Door): string {
  //= bar#CB-8
  if (door === undefined || door.key !== key) return "shut";
  //= bar#CB-9
  return isLong(key) ? "a" : "b";
}
function bolt(key: number): boolean {
  //= bar#CB-10
  return key > 3;
}
`;
const file = (path: string, text: string) => parseSource(path, text);
const DOOR = file("packages/a/src/door/door.ts", SOURCE);
const TESTS = [
  file("e2e/attacks/door.attack.test.ts", 'it("bar#CB-1 a", f);'),
  file("packages/a/src/other.test.ts", 'it("rfc7636#4.6 a", f); it("bar#CB-2 b", f);'),
  file("packages/a/src/door/door.test.ts", 'it("bar#CB-1 a", f);'),
  file("packages/a/src/door/none.test.ts", 'it("bar#CB-11 a", f);'),
];

describe("the guards below citations", () => {
  const guards = guardsOf([DOOR], testsOf(TESTS));

  it("are expressions, conditions to act or to leave, their parts, and both outcomes of what is decided", () => {
    const expected = [
      [
        'rfc7636#4.6 bar#CB-1 in open: if (age < 18) throw new Error("too young");',
        'if (age < 18) throw new Error("too young");',
        ";",
      ],
      ["bar#CB-2 in open: log.take(name);", "log.take(name);", ";"],
      ['bar#CB-4 in open: if (door === 1) { log.take("x"); }', 'if (door === 1) { log.take("x"); }', ";"],
      ["bar#CB-6 in key: age > 9", "age > 9 && (isLong(name) || isAt(door))", "(isLong(name) || isAt(door))"],
      ["bar#CB-6 in key: isLong(name)", "isLong(name) || isAt(door)", "isAt(door)"],
      ["bar#CB-6 in key: isAt(door)", "isLong(name) || isAt(door)", "isLong(name)"],
      ["bar#CB-7 in key: isOld", "if (isOld)", "if (true)"],
      [
        'bar#CB-8 in lock: if (door === undefined || door.key !== key) return "shut";',
        'if (door === undefined || door.key !== key) return "shut";',
        ";",
      ],
      ["bar#CB-8 in lock: door === undefined || door.key !== key", "door === undefined || door.key !== key", "true"],
      ['bar#CB-9 in lock: "a"', 'isLong(key) ? "a" : "b"', '"b"'],
      ['bar#CB-9 in lock: "b"', 'isLong(key) ? "a" : "b"', '"a"'],
      ["bar#CB-10 in bolt: key > 3 is true", "key > 3", "true"],
      ["bar#CB-10 in bolt: key > 3 is false", "key > 3", "false"],
    ] as const;
    expect(guards.map((guard) => [guard.defence, mutate(guard, SOURCE)])).toEqual(
      expected.map(([defence, part, left]) => [defence, { text: SOURCE.replace(part, left) }]),
    );
  });

  it("have the tests whose titles carry one of the citations, the nearest first", () => {
    expect(guards.map(({ tests }) => tests)).toEqual([
      ["packages/a/src/door/door.test.ts", "e2e/attacks/door.attack.test.ts", "packages/a/src/other.test.ts"],
      ["packages/a/src/other.test.ts"],
      ...guards.slice(2).map(() => []),
    ]);
  });
});
