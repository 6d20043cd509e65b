// llms.txt and llms-full.txt: the pages of the site as a list, and as one text, for programs that read.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PATTERNS = ["*.md", "docs/**/*.md", "{apps,packages,examples}/*/README.md", "e2e/simulation/README.md"];

/** @returns the paths of all pages below the root, sorted, README.md first */
export function listPages(root) {
  const paths = PATTERNS.flatMap((pattern) => globSync(pattern, { cwd: root }));
  return paths
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !/(?:^|\/)(?:CHANGELOG|node_modules)/.test(path))
    .sort((one, other) => Number(other === "README.md") - Number(one === "README.md") || (one < other ? -1 : 1));
}

/** The address of a page in the site. */
const addressOf = (path, base) => base + path.replace(/(?:^|(?<=\/))README\.md$/, "").replace(/\.md$/, ".html");

/**
 * @param base the path of the site, with slashes at both ends
 * @returns name → text of both files
 */
export function describePages(root, base) {
  const pages = listPages(root).map((path) => {
    const text = readFileSync(join(root, path), "utf8").replace(/^<!--.*?-->\n+/, "");
    return { path, text, title: /^# (.+)$/m.exec(text)?.[1] ?? path };
  });
  const [first] = pages;
  const summary = first.text.split("\n\n")[1].replaceAll("\n", " ");
  const links = pages.map(({ path, title }) => `- [${title}](${addressOf(path, base)})`);
  return {
    "llms.txt": `# ${first.title}\n\n> ${summary}\n\n## Pages\n\n${links.join("\n")}\n`,
    "llms-full.txt": pages.map(({ path, text }) => `<!-- ${path} -->\n\n${text}`).join("\n"),
  };
}
