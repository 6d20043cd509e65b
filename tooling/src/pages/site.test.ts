/** What the site is made of (site/llms.mjs); the site itself is built by `npm run site`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describePages, listPages } from "../../../site/llms.mjs";
import { ROOT } from "../sources.ts";

describe("the pages of the site", () => {
  const pages = listPages(ROOT);

  it("are the README first, then every page of docs/, of each package, app and example", () => {
    expect(pages[0]).toBe("README.md");
    expect(pages).toEqual(expect.arrayContaining(["docs/flows.md", "docs/api/mcp-auth.md", "examples/hono/README.md"]));
    expect(pages.filter((path) => !existsSync(join(ROOT, path)) || path.includes("node_modules"))).toEqual([]);
    expect(new Set(pages).size).toBe(pages.length);
  });

  it("are listed in llms.txt with their titles, and written out in llms-full.txt", () => {
    const files = describePages(ROOT, "/broker/");
    expect(files["llms.txt"]).toMatch(/^# OAuth broker\n\n> Platforms let agents act/);
    expect(files["llms.txt"]).toContain("- [Glossary](/broker/docs/glossary.html)");
    expect(files["llms.txt"]).toContain("](/broker/examples/hono/)");
    for (const path of pages) expect(files["llms-full.txt"]).toContain(`<!-- ${path} -->`);
    expect(files["llms-full.txt"]).not.toContain("<!-- Generated");
  });
});
