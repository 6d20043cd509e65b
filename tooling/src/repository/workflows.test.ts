/** What GitHub would run with our rights is named by its content, and gets no more than it needs. */
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readTexts } from "../sources.ts";

const WORKFLOWS = [...readTexts([".github/workflows/*.yml"])];

describe.each(WORKFLOWS)("%s", (_, text) => {
  it("names actions by commit, with the version beside it", () => {
    const used = [...text.matchAll(/uses: (.*)$/gm)].map(([, action = ""]) => action);
    expect(used.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  it("says what its token may do", () => {
    const { permissions } = parse(text) as { permissions?: Readonly<Record<string, string>> };
    expect(permissions).toBeDefined();
    expect(Object.values(permissions ?? {}).filter((level) => level !== "read")).toEqual([]);
  });
});

it("one action has one commit everywhere", () => {
  const pins = WORKFLOWS.flatMap(([, text]) => [...text.matchAll(/uses: ([\w/-]+)@(\w+)/g)]);
  const commits = Map.groupBy(pins, ([, action]) => action);
  for (const [action, found] of commits) expect(new Set(found.map(([, , commit]) => commit)).size, action).toBe(1);
});
