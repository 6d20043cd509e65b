/** The rules of .oxlintrc.json that keep the outside out of product code: a violation of each, planted. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { ROOT } from "../sources.ts";

const root = mkdtempSync(join(tmpdir(), "lint-"));
afterAll(() => rmSync(root, { recursive: true }));

const CORE = "packages/oauth-core/src";
const BROKER = "apps/broker/src";
const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `export const a${index} = 1;`).join("\n");

const REFUSED: readonly (readonly [rule: string, folder: string, code: string])[] = [
  ["no-restricted-globals", `${BROKER}/flows`, `await fetch("https://vendor.example");`],
  ["no-restricted-globals", `${BROKER}/flows`, `export const deps = { fetch: globalThis.fetch };`],
  ["no-restricted-globals", `${BROKER}/flows`, `f(fetch); function g(fetch: F) { fetch("x"); }`],
  ["no-restricted-globals", `${BROKER}/flows`, `export const socket = new WebSocket("wss://vendor.example");`],
  ["no-restricted-globals", BROKER, `console.error("x");`],
  ["no-restricted-globals", BROKER, `export const log = console;`],
  ["no-restricted-globals", `${CORE}/egress`, `export const log = console;`],
  ["no-restricted-globals", `${BROKER}/flows`, `setTimeout(() => 1, 5);`],
  ["no-restricted-globals", "packages/token-store/src/keys", `setTimeout(() => 1, 5);`],
  ["no-restricted-globals", `${CORE}/egress`, `setTimeout(() => 1, 5);`],
  ["no-restricted-globals", "packages/service/src/listener", `await fetch("https://vendor.example");`],
  ["no-restricted-properties", `${BROKER}/flows`, `export const signal = AbortSignal.timeout(5);`],
  ["no-restricted-properties", BROKER, `start(process.env);`],
  ["no-restricted-properties", BROKER, `export const { env } = process;`],
  ["no-restricted-properties", BROKER, `export const home = globalThis.process.env.HOME;`],
  ["no-restricted-properties", "packages/service/src/listener", `start(process.env);`],
  ["no-restricted-properties", `${CORE}/protocol`, `export const now = () => Date.now() / 1000;`],
  ["no-restricted-properties", "packages/service/src/listener", `export const now = () => Date.now();`],
  ["no-restricted-imports", `${BROKER}/flows`, `import { setTimeout as s } from "node:timers/promises"; await s(1);`],
  ["no-restricted-imports", `${BROKER}/flows`, `const { setTimeout: s } = await import("timers"); s(f, 1);`],
  ["max-lines", `${CORE}/protocol`, lines(401)],
  ["max-lines", "e2e/scenarios", lines(401)],
];

const PERMITTED: readonly (readonly [path: string, code: string])[] = [
  [`${BROKER}/flows/a.ts`, `export async function f(url: string, { fetch }: Deps) { return fetch(url); }`],
  [`${BROKER}/flows/b.ts`, `export const f = (deps: Deps) => deps.fetch("x"); export interface G { fetch: F }`],
  [`${BROKER}/flows/c.ts`, `import type { promises } from "node:timers"; process.stdout.write("x");`],
  [`${BROKER}/config.ts`, `export const home = process.env["HOME"];`],
  [`${CORE}/mechanics/system-clock.ts`, `export const systemClock = () => Math.floor(Date.now() / 1000);`],
  [`${CORE}/protocol/a.ts`, `export const at = (s: number) => new Date(s * 1000).toISOString();`],
  [`${CORE}/protocol/a.test.ts`, `console.log(Date.now()); await fetch("http://127.0.0.1:1");`],
  [`${CORE}/protocol/long.ts`, lines(400)],
  [`${CORE}/egress/pools.ts`, `await fetch("https://vendor.example");`],
  [`${CORE}/egress/index.ts`, `await fetch("https://vendor.example"); setTimeout(() => 1, 5);`],
  ["packages/service/src/listener/a.ts", `setTimeout(() => 1, 5); export const signal = AbortSignal.timeout(5);`],
  ["packages/simulators/src/a.ts", `await fetch("http://127.0.0.1:1"); setTimeout(() => 1, Date.now());`],
  ["examples/hono/main.ts", `await fetch(process.env.URL); console.log(Date.now());`],
  ["tooling/src/a.ts", `console.log(process.env.HOME);`],
];

/** @returns path → the rules of these that it breaks */
function lint(files: readonly (readonly [path: string, code: string])[]): ReadonlyMap<string, ReadonlySet<string>> {
  for (const [path, code] of files) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), code);
  }
  // Its patterns begin where it is.
  copyFileSync(join(ROOT, ".oxlintrc.json"), join(root, ".oxlintrc.json"));
  const { stdout } = spawnSync(join(ROOT, "node_modules/.bin/oxlint"), ["--format=json"], {
    cwd: root,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  const broken = new Map(files.map(([path]) => [path, new Set<string>()]));
  for (const { filename, code } of (JSON.parse(stdout) as { diagnostics: { filename: string; code: string }[] })
    .diagnostics) {
    const [, rule = ""] = /\((no-restricted-\w+|max-lines)\)/.exec(code) ?? [];
    if (rule !== "") broken.get(filename.replaceAll("\\", "/"))?.add(rule);
  }
  return broken;
}

it("the files that may have the outside are there", () => {
  const listed = [...readFileSync(join(ROOT, ".oxlintrc.json"), "utf8").matchAll(/"([^"*]+\/src\/[^"*]+)"/g)];
  const paths = listed.flatMap(([, pattern = ""]) => {
    const [, before = "", names, after = ""] = /^(.*)\{(.+)\}(.*)$/.exec(pattern) ?? [];
    return names === undefined ? [pattern] : names.split(",").map((name) => before + name + after);
  });
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it("a planted violation is refused by its rule, and what is allowed is not", () => {
  const planted = REFUSED.map(([rule, folder, code], at) => [`${folder}/planted-${at}.ts`, code, rule] as const);
  const found = lint([...planted.map(([path, code]) => [path, code] as const), ...PERMITTED]);
  for (const [path, code, rule] of planted) expect([...(found.get(path) ?? [])], code.slice(0, 80)).toEqual([rule]);
  for (const [path, code] of PERMITTED) expect([...(found.get(path) ?? [])], code.slice(0, 80)).toEqual([]);
});
