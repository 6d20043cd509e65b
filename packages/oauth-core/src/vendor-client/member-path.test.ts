import { expect, it } from "vitest";
import { memberAt } from "./member-path.ts";

const answer = { team: { id: "T1", list: [{ id: 7 }] }, id: 42, none: null, "a.b": "x" };

it.each([
  ["id", 42],
  ["team.id", "T1"],
  ["team.list.0.id", 7],
  ["team.list.1.id", undefined],
  ["team.list.length", undefined],
  ["none", undefined],
  ["id.toString", undefined],
  ["constructor", undefined],
  ["team.__proto__", undefined],
  ["absent.id", undefined],
])("a path %s leads to what is there, and nowhere else", (path, value) => {
  expect(memberAt(answer, path)).toEqual(value);
});
