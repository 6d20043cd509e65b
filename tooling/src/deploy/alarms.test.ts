import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PRODUCT, readTexts, ROOT } from "../sources.ts";
import { alarmsOf, identifierOf, type Job } from "./alarms.ts";
import { deployFiles } from "./files.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const BROKER = "apps/broker/README.md";
const SERVER = "apps/mcp-template/README.md";

describe.each<[string, Job]>([
  [BROKER, "oauth-broker"],
  [SERVER, "mcp-server"],
])("the alarms of %s", (path, job) => {
  it("each ask for the metrics and labels that its row names", () => {
    const alarms = alarmsOf(job, read(path));
    expect(alarms.length).toBeGreaterThan(7);
    for (const { name, condition, promql } of alarms) {
      const named = condition.match(/\b(?:http|broker|mcp)_[a-z_]+|\b[a-z]+="[^"]+"|\/readyz/g) ?? [];
      for (const one of named) expect(promql, `${name}: ${one}`).toContain(one);
    }
  });

  it("have names of their own as rules", () => {
    const identifiers = alarmsOf(job, read(path)).map(({ name }) => identifierOf("A", name));
    expect(new Set(identifiers).size).toBe(identifiers.length);
  });

  it("are refused when a row has no query, or a query no row", () => {
    const renamed = read(path).replace("| vendor credentials invalid |", "| vendor credentials refused |");
    expect(() => alarmsOf(job, renamed)).toThrow(/differ: vendor credentials refused; vendor credentials invalid$/);
    const cut = read(path).replace(/^\| vendor credentials invalid .*\n/m, "");
    expect(() => alarmsOf(job, cut)).toThrow(/differ: vendor credentials invalid$/);
  });
});

it("rules and dashboards compare labels with words that the services write", () => {
  const sources = [...readTexts(PRODUCT)]
    .map(([path, text]) => (/\.test\.ts$|\/testing\//.test(path) ? "" : text))
    .join("\n");
  const generated = deployFiles(read(BROKER), read(SERVER)).filter(([path]) => /rules|grafana/.test(path));
  const compared = generated.flatMap(([, text]) => [...text.matchAll(/\b(\w+)(?:!?=)\\*"((?:[^"\\$]|\\\\)+)\\*"/g)]);
  const values = new Set(
    compared.filter(([, label]) => label !== "job" && label !== "status").map(([, , value]) => value),
  );
  expect(values.size).toBeGreaterThan(10);
  expect([...values].filter((value) => !sources.includes(`"${value}"`))).toEqual([]);
});
