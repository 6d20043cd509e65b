import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { ROOT } from "../sources.ts";
import { parseDocstring } from "./docstring.ts";
import { checkApi, hasPage, renderApiPages } from "./page.ts";
import { type PublishedPackage, readPublished } from "./published.ts";

/** @param files by path from the root of a repository */
function repository(files: Readonly<Record<string, string>>): PublishedPackage[] {
  const root = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return readPublished(root);
}

function manifest(name: string, exports: Record<string, string>, published = Object.keys(exports)): string {
  const publishConfig = { exports: Object.fromEntries(published.map((entry) => [entry, "./dist"])) };
  return JSON.stringify({ name: `@x/${name}`, description: `What ${name} is for`, exports, publishConfig });
}

/** A package whose one entry is this text. */
const one = (text: string): PublishedPackage[] =>
  repository({
    "packages/a/package.json": manifest("a", { ".": "./src/index.ts" }),
    "packages/a/src/index.ts": text,
  });

async function pageOf(packages: readonly PublishedPackage[], folder = "a"): Promise<string> {
  const pages = new Map(await renderApiPages(packages));
  return pages.get(`docs/api/${folder}.md`) ?? "";
}

const HEAD = "/** What an author imports. */\n\n";

describe("the page of a package", () => {
  it("has a function's signature as written, without its body, and its docstring", async () => {
    const text = `${HEAD}
      /**
       * Checks the verifier of a <flow>.
       *
       * @param codeVerifier 43 to 128 characters,
       *   as received
       * @param limits.seconds of the code
       * @returns nothing
       * @throws OAuthError invalid_grant
       * @see rfc7636#4.6
       */
      export async function verify(codeVerifier: string, { seconds }: { seconds: number }): Promise<void> {
        //= bar#CB-6
        if (codeVerifier === "") await Promise.reject(new Error(String(seconds)));
      }`;
    expect((await pageOf(one(text))).split("### verify\n")[1]?.trim().split("\n")).toEqual([
      "```ts",
      "function verify(codeVerifier: string, { seconds }: { seconds: number }): Promise<void>;",
      "```",
      "",
      "Checks the verifier of a \\<flow>.",
      "",
      "- `codeVerifier`: 43 to 128 characters, as received",
      "- `limits.seconds`: of the code",
      "- Returns nothing",
      "- Throws OAuthError invalid_grant",
      "- Standards: [rfc7636#4.6](https://www.rfc-editor.org/rfc/rfc7636#section-4.6), `bar#CB-6`",
    ]);
  });

  it("shows what is public of a class, members of an interface, the type of a constant", async () => {
    const text = `${HEAD}
      /** A value nothing prints. */
      export class Sealed { #value: string; constructor(value: string) { this.#value = value; } }
      /** A clock. */
      export interface Clock {
        /** Now. @throws Error without one */
        now(): number;
      }
      /** How long, in seconds. */
      export const LIFETIME_SECONDS = 60;`;
    const page = await pageOf(one(text));
    expect(page).toContain("class Sealed {\n  constructor(value: string);\n}");
    expect(page).toContain("  /**\n   * Now.\n   *\n   * @throws Error without one\n   */\n  now(): number;");
    expect(page).toContain("const LIFETIME_SECONDS = 60;");
  });

  it("lists values before types, upper and lower case beside each other, and links each", async () => {
    const text = `${HEAD}/** t */ export type A = string; /** f */ export function open(): void {} /** c */ export class Open {} /** b */ export const b = 1;`;
    const page = await pageOf(one(text));
    expect(page.match(/^### .*/gm)).toEqual(["### b", "### Open", "### open", "### A"]);
    expect(page.replace(/\s+/g, " ")).toContain("- [@x/a](#xa-1): [b](#b), [Open](#open), [open](#open-1), [A](#a)");
  });

  it("names the strings behind keyof typeof", async () => {
    const text = `${HEAD}const STATUS = { invalid_grant: 400, "server-error": 500 } as const;
      /** A code. */ export type Code = keyof typeof STATUS;
      const ALGS = ["ES256", "RS256"] as const;
      /** An algorithm. */ export type Alg = (typeof ALGS)[number];`;
    const page = await pageOf(one(text));
    expect(page).toContain("- One of `invalid_grant`, `server-error`");
    expect(page).toContain("- One of `ES256`, `RS256`");
  });

  it("has no line of prose over 100 columns, no place on a machine and no line of a file", async () => {
    const page = await pageOf(one(`${HEAD}/** ${"words and ".repeat(40)}*/ export const a = 1;`));
    expect(page.split("\n").filter((line) => line.length > 100)).toEqual([]);
    expect(page).not.toMatch(/test-|\.ts/);
    expect(await pageOf(one(`${HEAD}/** ${"words and ".repeat(40)}*/ export const a = 1;`))).toBe(page);
  });
});

describe("an exported name", () => {
  it("is followed through files and packages to what declares it", async () => {
    const packages = repository({
      "packages/a/package.json": manifest("a", { ".": "./src/index.ts", "./b": "./src/b.ts" }),
      "packages/a/src/index.ts": `${HEAD}export { inner as outer } from "./deep/c.ts";\nexport type { Shape } from "@x/z";`,
      "packages/a/src/b.ts": `${HEAD}import { inner } from "./deep/c.ts";\nimport { z } from "zod";\nexport { inner, z };`,
      "packages/a/src/deep/c.ts": "/** The same. */\nexport function inner(): void {}",
      "packages/z/package.json": manifest("z", { ".": "./src/index.ts" }),
      "packages/z/src/index.ts": `${HEAD}/** A shape. */ export interface Shape { readonly sides: number }`,
    });
    const page = await pageOf(packages);
    expect(page).toContain("### outer\n\n```ts\nfunction inner(): void;\n```\n\nThe same.");
    expect(page).toContain("### inner\n\n```ts\nfunction inner(): void;");
    expect(page).toContain("### Shape\n\n```ts\ninterface Shape {");
    expect(page).toContain("### z\n\n`z` of `zod`.");
    expect(await pageOf(packages, "z")).toContain("interface Shape {");
  });

  it("comes from an entry that is published, of a package that is", () => {
    const exports = { ".": "./src/index.ts", "./testing": "./src/testing.ts" };
    const packages = repository({
      "packages/a/package.json": manifest("a", exports, [".", "./package.json"]),
      "packages/a/src/index.ts": `${HEAD}/** a */ export const a = 1;`,
      "packages/a/src/testing.ts": "export const fake = 1;",
      "packages/p/package.json": JSON.stringify({ ...JSON.parse(manifest("p", exports)), private: true }),
    });
    expect(packages.flatMap(({ entries }) => entries.map(({ specifier }) => specifier))).toEqual(["@x/a"]);
  });

  it("is given, not taken over with everything else", () => {
    expect(() => one(`${HEAD}export * from "./b.ts";`)).toThrow("name each");
  });
});

describe("the check", () => {
  it("refuses an export without a docstring, of whatever kind", () => {
    const text = `${HEAD}export const a = 1; export function b(): void {} export class C {} export interface D {} export type E = 1;`;
    expect(checkApi(one(text))).toEqual(
      ["a", "b", "C", "D", "E"].map((name) => `packages/a/src/index.ts exports ${name} without a docstring`),
    );
  });

  it("does not take the comment on a file for the docstring of its first declaration", () => {
    expect(checkApi(one(`${HEAD}export const a = 1;`))).toEqual([
      "packages/a/src/index.ts exports a without a docstring",
    ]);
    expect(checkApi(one("/** The constant. */\nexport const a = 1;"))).toEqual([
      "@x/a has no comment above its exports that says what it is for",
    ]);
  });

  it("takes the docstring of the first overload, and one above a citation", () => {
    const text = `${HEAD}/** Both. */
      export function f(a: string): string;
      export function f(a: number): number;
      export function f(a: unknown): unknown { return a; }
      /** Cited. */
      //= rfc7636#4.6
      export const b = 1;`;
    const packages = one(text);
    expect(checkApi(packages)).toEqual([]);
    expect(packages[0]?.entries[0]?.exports.map(({ from }) => from)).toEqual([
      expect.objectContaining({ name: "b", citations: ["rfc7636#4.6"] }),
      expect.objectContaining({ name: "f", signatures: [expect.any(String), expect.any(String)] }),
    ]);
  });

  it("refuses an export whose type only the compiler could tell", () => {
    expect(checkApi(one(`${HEAD}/** a */ export const a = Math.random();`))).toEqual([
      expect.stringContaining("packages/a/src/index.ts exports a with a type that is not written"),
    ]);
  });
});

it("a docstring's tags may follow prose on its line; the name of a package is no tag", () => {
  expect(parseDocstring("Asks, see @oauth-broker/x. @throws Error a\n\n@returns b")).toEqual({
    prose: "Asks, see @oauth-broker/x.",
    parameters: [],
    returns: ["b"],
    throws: ["Error a"],
    see: [],
  });
});

let ours: PublishedPackage[] | undefined;
/** Of this repository. */
const published = (): PublishedPackage[] => (ours ??= readPublished());

it("an entry exports at most 28 values, few enough to read", () => {
  const counts = published().flatMap(({ entries }) =>
    entries.map(({ specifier, exports }) => ({
      specifier,
      values: exports.filter(({ from }) => typeof from === "string" || !/^(?:interface|type)$/.test(from.kind)).length,
    })),
  );
  expect(counts.filter(({ values }) => values > 28)).toEqual([]);
});

it("a package has a page that docs/README.md links, or docs/packages.md calls it internal", () => {
  const index = readFileSync(join(ROOT, "docs/README.md"), "utf8");
  const packages = readFileSync(join(ROOT, "docs/packages.md"), "utf8");
  const pages = published()
    .filter(hasPage)
    .map(({ folder }) => `](api/${folder}.md)`);
  expect(pages).toHaveLength(2);
  expect(pages.filter((page) => !index.includes(page))).toEqual([]);
  const [, list = ""] = /^\*\*Internal\*\*([^]*?)\n\n/m.exec(packages) ?? [];
  const internal = published()
    .filter((one) => !hasPage(one))
    .map(({ folder }) => folder);
  expect(internal.filter((folder) => !list.includes(`\`${folder}\``))).toEqual([]);
});
