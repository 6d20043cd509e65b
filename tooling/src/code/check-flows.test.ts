import { describe, expect, it } from "vitest";
import { checkFlows } from "./check-flows.ts";
import { parseSource } from "../sources.ts";

const FILES = [
  parseSource("apps/broker/src/routes/par.ts", "export function par() {}"),
  parseSource("apps/broker/src/flows/push-request.ts", "export const pushRequest = () => ({ open() {} });"),
  parseSource("apps/other/src/flows/push-request.ts", "export const other = 1;"),
  ...Array.from({ length: 7 }, (_, index) => parseSource(`packages/a/src/hop-${index}.ts`, "")),
];
const flows = (...cells: readonly string[]): string =>
  [
    "Text.",
    "",
    "| hop | 1 `POST /v1/par` |",
    "|---|---|",
    ...cells.map((cell, index) => `| ${index} | ${cell} |`),
    "",
    "More.",
  ].join("\n");

describe("docs/flows.md", () => {
  it("may name files by their full path or a unique ending, and symbols of the same cell", () => {
    expect(
      checkFlows(
        flows("`routes/par.ts` `par`", "`apps/broker/src/flows/push-request.ts` `pushRequest`, `open()`"),
        FILES,
      ),
    ).toEqual([]);
  });

  it.each([
    ["a file that is gone", "`routes/gone.ts`", "no file routes/gone.ts"],
    ["a symbol that is gone", "`routes/par.ts` `push`", "apps/broker/src/routes/par.ts has no push"],
    [
      "an ending two files share",
      "`flows/push-request.ts`",
      "could be apps/broker/src/flows/push-request.ts or apps/other/src/flows/push-request.ts",
    ],
  ])("must not name %s", (_, cell, complaint) => {
    expect(checkFlows(flows(cell), FILES)).toEqual([expect.stringContaining(complaint)]);
  });

  it("must not need more than six files a leg", () => {
    const cells = Array.from({ length: 7 }, (_, index) => `\`hop-${index}.ts\``);
    expect(checkFlows(flows(...cells.slice(0, 6)), FILES)).toEqual([]);
    expect(checkFlows(flows(...cells), FILES)).toEqual([expect.stringContaining("7 files; at most 6")]);
  });

  it("must have tables at all", () => {
    expect(checkFlows("# Flows\n", FILES)).toEqual(["docs/flows.md has no table that names files"]);
  });
});
