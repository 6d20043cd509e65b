/**
 * Checks of the list that need no run: `npm run mutate` takes long, and the list must not become
 * outdated in the meantime.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readRequirements, REQUIREMENTS_PAGE } from "../pages/requirements.ts";
import { ROOT } from "../sources.ts";
import { readListed } from "./list.ts";
import { mutate } from "./mutation.ts";
import { readTests } from "./tests.ts";

const MUTATIONS = readListed(readTests());
const named = MUTATIONS.map((mutation) => [mutation.defence, mutation] as const);

describe("the list of defences", () => {
  it("names each defence once", () => {
    const sentences = MUTATIONS.map(({ defence }) => defence);
    expect(sentences.filter((sentence, index) => sentences.indexOf(sentence) !== index)).toEqual([]);
    expect(sentences.length).toBeGreaterThanOrEqual(200);
  });

  it.each(named)("can take out: %s", (_, mutation) => {
    const text = readFileSync(join(ROOT, mutation.file), "utf8");
    expect(mutate(mutation, text)).toEqual({ text: expect.any(String) });
    expect(mutation.replace).not.toBe(mutation.find);
  });

  it.each(named)("has a test, and no twin, for: %s", (_, { tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((path) => !path.endsWith(".test.ts") || path.endsWith(".twin.test.ts"))).toEqual([]);
    expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("cites rows of the bar that there are", () => {
    const page = readFileSync(join(ROOT, REQUIREMENTS_PAGE), "utf8");
    const known = new Set(readRequirements(page).map(({ id }) => id));
    expect(MUTATIONS.flatMap(({ rows = [] }) => rows).filter((id) => !known.has(id))).toEqual([]);
  });
});
