/**
 * docs/api/PACKAGE.md, for the packages that others program against: every name such a package
 * exports, by the entry it is imported from, with its signature and its docstring. A name that
 * comes or goes, and a signature that changes, show in the diff of its page. oxfmt wraps the prose
 * and the code. Callers: main.ts.
 */
import { format } from "oxfmt";
import { generated } from "../pages/markdown.ts";
import { sectionLink } from "../pages/standards-index.ts";
import { parseDocstring } from "./docstring.ts";
import type { Exported, PublishedPackage } from "./published.ts";

const COLUMNS = 100;

/** The packages that a platform or a server imports. docs/packages.md calls all others internal. */
const WITH_PAGE: ReadonlySet<string> = new Set(["broker-client", "mcp-auth"]);

/** @returns whether the package has a page of its interface */
export const hasPage = ({ folder }: PublishedPackage): boolean => WITH_PAGE.has(folder);

/** @returns the path of each page and its content, by package */
export async function renderApiPages(
  packages: readonly PublishedPackage[],
): Promise<[path: string, content: string][]> {
  return Promise.all(
    packages.map(async (published): Promise<[string, string]> => [
      `docs/api/${published.folder}.md`,
      await layOut(renderPage(published)),
    ]),
  );
}

/** What a reader of an export has to do without, one sentence each: of every package, with a page or not. */
export function checkApi(packages: readonly PublishedPackage[]): string[] {
  const entries = packages.flatMap((one) => one.entries);
  const declarations = new Set(
    entries.flatMap((entry) => entry.exports.map(({ from }) => from).filter((from) => typeof from !== "string")),
  );
  return [
    ...entries
      .filter(({ docstring }) => docstring === "")
      .map(({ specifier }) => `${specifier} has no comment above its exports that says what it is for`),
    ...[...declarations].flatMap(({ path, name, docstring, untyped }) => [
      ...(docstring === "" ? [`${path} exports ${name} without a docstring`] : []),
      ...untyped.map((message) => `${path} exports ${name} with a type that is not written: ${message}`),
    ]),
  ];
}

function renderPage({ folder, name, description, entries }: PublishedPackage): string {
  const anchorOf = createAnchors();
  anchorOf(name);
  const sections = entries.map(({ specifier, docstring, exports }) => ({
    specifier,
    anchor: anchorOf(specifier),
    docstring,
    exports: exports.map((one) => ({ ...one, anchor: anchorOf(one.name) })),
  }));
  return generated(
    name,
    `${sentence(description)} What it promises: [its README](../../packages/${folder}/README.md). A change here is a change of the interface: [versioning.md](../versioning.md). Sections of \`bar\` are rows of [security-requirements.md](../security-requirements.md).`,
    sections
      .map(({ specifier, anchor, exports }) => {
        const names = exports.map((one) => `[${one.name}](#${one.anchor})`).join(", ");
        return `- [${specifier}](#${anchor}): ${names}`;
      })
      .join("\n"),
    ...sections.flatMap(({ specifier, docstring, exports }) => [
      `## ${specifier}`,
      escape(docstring),
      ...exports.flatMap((one) => [`### ${one.name}`, ...renderExport(one)]),
    ]),
  );
}

function renderExport({ name, from }: Exported): string[] {
  if (typeof from === "string") return [`\`${name}\` of \`${from}\`.`];
  const { prose, parameters, returns, throws, see } = parseDocstring(from.docstring);
  const sections = [...new Set([...see, ...from.citations])].map((one) => sectionLink(one));
  const bullets = [
    ...parameters.map((one) => `- \`${one.name}\`: ${item(one.text)}`),
    ...returns.map((text) => `- Returns ${item(text)}`),
    ...throws.map((text) => `- Throws ${item(text)}`),
    ...(from.members.length === 0 ? [] : [`- One of ${from.members.map((one) => `\`${one}\``).join(", ")}`]),
    ...(sections.length === 0 ? [] : [`- Standards: ${sections.join(", ")}`]),
  ];
  return [
    ["```ts", ...from.signatures.map(tagsApart), "```"].join("\n"),
    ...(prose === "" ? [] : [escape(prose)]),
    ...(bullets.length === 0 ? [] : [bullets.join("\n")]),
  ];
}

const sentence = (text: string): string => (text === "" || text.endsWith(".") ? text : `${text}.`);

const item = (text: string): string => escape(text).replace(/\s*\n\s*/g, " ");

/** Docstrings are Markdown, except that `<` outside of backticks begins no tag. */
function escape(prose: string): string {
  return prose
    .split(/(`[^`]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll("<", "\\<")))
    .join("");
}

/** A tag that follows prose on its line, in the docstring of a member, gets a separate line. */
const tagsApart = (signature: string): string =>
  signature.replace(/\/\*\*[^]*?\*\//g, (comment) =>
    comment.replace(/([^\s*]) @(?=(?:param|returns|throws|see)\b)/g, "$1\n * @"),
  );

/** As GitHub makes them: the second `open` of a page is `open-1`. */
function createAnchors(): (heading: string) => string {
  const used = new Map<string, number>();
  return (heading) => {
    const slug = slugOf(heading);
    const times = used.get(slug) ?? 0;
    used.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };
}

const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-");

/** @throws Error when a signature does not parse: it would go through as it is */
async function layOut(page: string): Promise<string> {
  const { code, errors } = await format("page.md", page, {
    printWidth: COLUMNS,
    proseWrap: "always",
    embeddedLanguageFormatting: "auto",
    objectWrap: "collapse",
    jsdoc: { capitalizeDescriptions: false, addDefaultToDescription: false },
  });
  const [problem] = errors;
  if (problem !== undefined) throw new Error(`A page of docs/api cannot be laid out: ${problem.message}`);
  return code;
}
