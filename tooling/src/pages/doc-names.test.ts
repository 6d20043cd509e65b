import { describe, expect, it } from "vitest";
import {
  checkDocNames,
  checkNodeVersion,
  checkReferences,
  checkScopes,
  readRepository,
  type Repository,
} from "./doc-names.ts";

const repository = (documents: Record<string, string>, sources: Record<string, string> = {}): Repository => ({
  documents: new Map(Object.entries(documents)),
  sources: new Map(Object.entries(sources)),
  paths: new Set([...Object.keys(documents), ...Object.keys(sources)]),
});

describe("documents", () => {
  const sources = {
    "package.json": '{ "engines": { "node": ">=20" }, "scripts": { "docs": "x" } }',
    "apps/broker/src/flow.ts": 'export function openVendor() {} // "/v1/par" keysMinRevision',
  };

  it("may name files, scripts, symbols, endpoints and fields that there are", () => {
    const text =
      "[flow](../apps/broker/src/flow.ts#L1) [apps](../apps/broker) [x](https://example.com) `flow.ts` `npm run docs` `openVendor()` `/v1/par` `keys_min_revision` `a b c`";
    expect(checkDocNames(repository({ "docs/x.md": text }, sources))).toEqual([]);
  });

  it.each([
    ["[flow](../apps/gone.ts)", "../apps/gone.ts does not exist"],
    ["`gone.ts`", "`gone.ts` does not occur in the sources"],
    ["run `npm run gone`", "no package.json has the script of 'npm run gone'"],
    ["```\nnpm run gone\n```", "no package.json has the script of 'npm run gone'"],
    ["`closeVendor`", "`closeVendor` does not occur in the sources"],
    ["`GONE_VARIABLE`", "`GONE_VARIABLE` does not occur in the sources"],
    ["`--gone`", "`--gone` does not occur in the sources"],
    ["`/v2/par`", "`/v2/par` does not occur in the sources"],
  ])("must not say %s", (text, problem) => {
    expect(checkDocNames(repository({ "docs/x.md": text }, sources))).toEqual([`docs/x.md: ${problem}`]);
  });

  it.each([
    ["As the design", "§4 says"],
    ["seen (vendors", "README.md 5)"],
    ["unknown parameters (quirk", "38)"],
  ])("refer to no document that is elsewhere: %s …", (...parts) => {
    const text = parts.join(parts[0].endsWith("vendors") ? "/" : " ");
    expect(checkReferences(repository({ "docs/x.md": text, "docs/y.md": "the design" }, sources))).toEqual([
      "docs/x.md refers to a document that is not in this repository",
    ]);
  });

  it("say one least Node.js", () => {
    expect(checkNodeVersion(repository({ "README.md": "Node.js 18 or newer" }, sources))).toHaveLength(3);
  });

  it("list scopes that are folders, and every package", () => {
    const conventions = "A scope is the name of a folder: `gone`.\n\n";
    expect(checkScopes(repository({ "CONVENTIONS.md": conventions }, sources))).toEqual([
      "CONVENTIONS.md does not list the scope broker",
      "CONVENTIONS.md lists gone, which is not a folder",
    ]);
  });
});

it("this repository is read without the decisions, which describe the day they were taken", () => {
  const { documents } = readRepository();
  expect(documents.size).toBeGreaterThan(15);
  expect([...documents.keys()].filter((path) => path.startsWith("docs/decisions"))).toEqual([]);
});
