/**
 * Every page in every state, under axe in a real browser: light and dark, on a phone of 390 px and at
 * 200 % zoom, in every language. Of the states that differ in their words alone `npm test` shows one,
 * each a different way; the soak shows every state in both sizes and both schemes, and in its other languages once.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import { shared, volume } from "@oauth-broker/oauth-core/testing";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { BROWSER_MS, CHROMIUM, connectChromium, takeScreenshot } from "../../support/chromium.ts";
import { type PageState, pageStates } from "../../support/pages/states.ts";
import { ROOT } from "../../support/paths.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** A desk of 1280 px at 200 % has 640 px to show a page in. */
const SIZES = [
  { width: 390, height: 844 },
  { width: 640, height: 450 },
] as const;
interface Way {
  readonly size: (typeof SIZES)[number];
  readonly colorScheme: "light" | "dark";
}
const WAYS: readonly Way[] = SIZES.flatMap((size) => [
  { size, colorScheme: "light" },
  { size, colorScheme: "dark" },
]);
const STATES = await pageStates();
/** Each state in one language, the languages in turn. */
const ONCE = [...Map.groupBy(STATES, ({ name }) => name).values()].flatMap(
  (alike, at) => alike[at % alike.length] ?? [],
);
const SHAPES = [...Map.groupBy(ONCE, shapeOf).values()].flatMap((alike) => alike.slice(0, 1));

/** A page without its words: its style and its elements. */
function shapeOf({ html }: PageState): string {
  const styles = html.match(/<style[^]*?<\/style>/g) ?? [];
  const elements = html.replaceAll(/>[^<]+/g, ">").replaceAll(/ (?!class|type|role)[\w-]+="[^"]*"/g, "");
  return [...styles, elements].join("\n");
}

/** At full size two ways for the state in one of its languages, with nothing in common, and one for it in each other. */
function waysOf(state: PageState, at: number): readonly Way[] {
  const ways = [at % WAYS.length, WAYS.length - 1 - (at % WAYS.length)].flatMap((way) => WAYS[way] ?? []);
  return ways.slice(0, volume({ test: 1, soak: ONCE.includes(state) ? 2 : 1 }));
}

describe.skipIf(CHROMIUM === undefined)("pages under axe", () => {
  const browser = shared(connectChromium);
  let page: Page;
  beforeAll(async () => {
    page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(BROWSER_MS);
    await page.evaluate(AXE);
  });

  async function problemsOf({ html, name, language }: PageState, way: Way): Promise<string[]> {
    const { size, colorScheme } = way;
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await page.setContent(html);
    // What stands behind a choice is part of the page.
    await page.evaluate("for (const closed of document.querySelectorAll('details')) closed.open = true");
    await takeScreenshot(page, `pages/${language}-${colorScheme}-${size.width}-${name.replaceAll(/\W+/g, "-")}`);
    const [{ violations }, wide] = await page.evaluate<[AxeResults, number]>(
      "axe.run({ resultTypes: ['violations'] }).then((found) => [found, document.documentElement.scrollWidth])",
    );
    return [
      ...violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`)),
      ...(wide > size.width ? [`${wide} px wide`] : []),
    ].map((problem) => `${name} (${language}, ${colorScheme}, ${size.width} px): ${problem}`);
  }

  it.each(volume({ test: SHAPES, soak: STATES }).map((state, at) => ({ ...state, ways: waysOf(state, at) })))(
    "have no violation, and never scroll sideways: $name ($language)",
    async ({ ways, ...state }) => {
      const problems: string[] = [];
      // oxlint-disable-next-line no-await-in-loop -- one page in the one browser
      for (const way of ways) problems.push(...(await problemsOf(state, way)));
      expect(problems).toEqual([]);
    },
  );

  it("are seen to be wrong where they are", async () => {
    const html =
      '<!doctype html><html><title>x</title><main><h1>x</h1><img src="x"><p style="width:900px">x</p></main>';
    const found = await problemsOf(
      { html, name: "wrong", by: "", language: "en" },
      { size: SIZES[0], colorScheme: "light" },
    );
    expect(found.map((problem) => /: ([\w-]+)/.exec(problem)?.[1])).toEqual(
      expect.arrayContaining(["html-has-lang", "image-alt"]),
    );
    expect(found.at(-1)).toContain("px wide");
  });
});

/** They make no page by themselves: what they frame is the content of a function in the list. */
const FRAMES = ["page", "linkingPage", "platformPage", "createPresentation"];
const RENDERS = /[^\w.](?:page|linkingPage|platformPage)\(|presentation\.(?:page|formPage)\(/;

it("are all in the list: no function that renders a page is missing", () => {
  const found = ["apps/broker/src", "apps/platform/src", "packages/mcp-auth/src", "packages/service/src"].flatMap(
    (folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts") && !/\.test\.ts$|(?:^|\/)testing\//.test(file))
        .flatMap((file) => renderers(readFileSync(join(ROOT, folder, file), "utf8"))),
  );
  expect(found.length).toBeGreaterThan(10);
  const shown = new Set(STATES.map(({ by }) => by));
  expect(found.filter((name) => !shown.has(name) && !FRAMES.includes(name))).toEqual([]);
});

/** The top-level functions and constants of a file whose text renders a page. */
function renderers(source: string): string[] {
  if (!/service\/page"|\/page\.ts"|\/layout\.ts"|presentation\.ts"/.test(source)) return [];
  return source
    .split(/^(?=(?:export )?(?:async )?(?:function|const) \w)/m)
    .filter((part) => RENDERS.test(part.slice(part.indexOf("\n"))) || /^.*= pageAnswer\(/.test(part))
    .flatMap((part) => /^(?:export )?(?:async )?(?:function|const) (\w+)/.exec(part)?.[1] ?? []);
}
