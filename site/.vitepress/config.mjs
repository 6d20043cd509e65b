// The site: docs/ and the README files as they are, at their own paths. Nothing is written twice: what
// is wrong with a page is wrong in docs/. Search runs in the browser on an index that is part of the
// build. `npm run site` builds it; .github/workflows/pages.yml publishes it.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describePages, listPages } from "../llms.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
// owner/name, as a workflow has it.
const repository = process.env.GITHUB_REPOSITORY ?? "";
const [, name = ""] = repository.split("/");
const base = process.env.SITE_BASE ?? (name === "" ? "/" : `/${name}/`);
const source = (path) => (repository === "" ? undefined : `https://github.com/${repository}/blob/main/${path}`);

const PAGES = new Set(listPages(root));
/** A folder's own page. */
const asIndex = (path) => path.replace(/(^|\/)README\.md/, "$1index.md");

/** Copies: what a page imports is looked for beside it, and only this folder has it. */
const pages = join(root, "site", "pages");
rmSync(pages, { recursive: true, force: true });
for (const path of [...PAGES, ...globSync("docs/**/*.png", { cwd: root })]) {
  const copy = join(pages, asIndex(path));
  mkdirSync(dirname(copy), { recursive: true });
  if (path.endsWith(".png")) cpSync(join(root, path), copy);
  // The line that says how a page is made is the repository's.
  else writeFileSync(copy, readFileSync(join(root, path), "utf8").replace(/^<!--.*?-->\n/, ""));
}

const ROLES = [
  ["A platform's engineer", "platform-engineer"],
  ["A server's author", "server-author"],
  ["An operator", "operator"],
  ["A security reviewer", "security-reviewer"],
].map(([text, page]) => ({ text, link: `/docs/roles/${page}` }));

/** A link to a file that is no page leads to the repository, or nowhere where it has no name. */
function linkToSources(markdown) {
  markdown.core.ruler.push("sources", ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (href === null || /^(?:[a-z]+:|#|\/)/.test(href)) continue;
      const [path] = href.split("#");
      const folder = join(root, dirname(env.relativePath));
      const target = relative(root, join(folder, decodeURI(path)));
      token.attrSet("href", PAGES.has(target) ? asIndex(href) : (source(target) ?? "https://github.com"));
    }
  });
}

export default {
  srcDir: pages,
  outDir: join(root, "site", "dist"),
  cacheDir: join(root, "site", "node_modules", ".cache"),
  base,
  title: "OAuth broker",
  description: "A hosted OAuth broker with one redirect URI, and a template for MCP servers",
  lang: "en",
  markdown: {
    config: linkToSources,
    // Texts such as {{name}} and <vendor> are the reader's, no templates.
    attrs: { disable: true },
    html: false,
  },
  // Addresses of a sandbox that runs on the reader's own machine.
  ignoreDeadLinks: [/^http:\/\/127\.0\.0\.1/, /^http:\/\/localhost/],
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "All pages", link: "/docs/" },
      ...(repository === "" ? [] : [{ text: "Source", link: `https://github.com/${repository}` }]),
    ],
    sidebar: [
      { text: "In five minutes", items: ROLES },
      { text: "All pages", link: "/docs/" },
    ],
    outline: [2, 3],
  },
  buildEnd: ({ outDir }) => {
    for (const [file, text] of Object.entries(describePages(root, base))) writeFileSync(join(outDir, file), text);
  },
};
