/**
 * docs/standards.md: every cited section, the code that enforces it and the tests that prove it. A
 * citation is a comment `//= rfc7636#4.6` alone on its line; a test proves it by the same token in
 * its title.
 */
import type { SourceFile } from "../sources.ts";
import { generated, link } from "./markdown.ts";
import { table } from "../tables.ts";
import { isTwin, rowsIn } from "./requirements.ts";

export interface StandardsIndex {
  /** Section → places that cite it, `path symbol`. */
  readonly cited: ReadonlyMap<string, readonly string[]>;
  /** Section → test files whose titles contain it. */
  readonly proved: ReadonlyMap<string, readonly string[]>;
  /** Section → those of them in which the attack succeeds too, with one defence replaced. */
  readonly twins: ReadonlyMap<string, readonly string[]>;
  /** Citations that are not of the form `name#section`. */
  readonly malformed: readonly string[];
}

/** `rfc7636#4.6`, `cimd-00#4`, `mcp-2026-07-28/authorization#token-handling`, `bar#CB-6`. */
const TOKEN = /(?<![\w/#.-])[a-z][\w.-]*(?:\/[a-z-]+)*#\w+(?:[.-]\w+)*/g;
const WHOLE_TOKEN = new RegExp(`^${TOKEN.source}$`);

export function indexStandards(files: readonly SourceFile[]): StandardsIndex {
  const cited = new Map<string, Set<string>>();
  const proved = new Map<string, Set<string>>();
  const twins = new Map<string, Set<string>>();
  const malformed: string[] = [];
  const put = (index: Map<string, Set<string>>, section: string, value: string): void => {
    index.set(section, (index.get(section) ?? new Set()).add(value));
  };

  for (const file of files) {
    for (const { text } of file.titles) {
      for (const section of sectionsIn(text)) {
        put(proved, section, file.path);
        if (isTwin(text)) put(twins, section, file.path);
      }
    }
    if (file.kind === "test") continue;
    for (const { text: section, line } of file.citations) {
      if (WHOLE_TOKEN.test(section)) put(cited, section, [file.path, enclosing(file, line)].join(" ").trim());
      else malformed.push(`${file.path}:${line} //= ${section}`);
    }
  }
  return { cited: sorted(cited), proved: sorted(proved), twins: sorted(twins), malformed };
}

/** @returns the sections that a title carries; a row of the bar under its citation, `bar#X-1` */
export function sectionsIn(title: string): Set<string> {
  const tokens = [...title.matchAll(TOKEN)].map(([section]) => section);
  return new Set([...tokens, ...rowsIn(title).map((id) => `bar#${id}`)]);
}

/** The top-level declaration that contains a line, otherwise the next one below it. */
function enclosing(file: SourceFile, line: number): string {
  return file.declarations.find(({ lastLine }) => lastLine >= line)?.name ?? "";
}

/** By name, then by section number: `rfc6749#5.2` before `rfc6749#10.1`. */
function sorted(index: ReadonlyMap<string, ReadonlySet<string>>): Map<string, string[]> {
  const order = new Intl.Collator("en", { numeric: true });
  return new Map(
    [...index].sort(([a], [b]) => order.compare(a, b)).map(([section, places]) => [section, [...places].sort()]),
  );
}

/** @param exceptions text of docs/exceptions.md; a section named there as `code` needs no test */
export function checkStandards({ cited, proved, malformed }: StandardsIndex, exceptions: string): string[] {
  const excepted = new Set([...exceptions.matchAll(/`([^`]+)`/g)].map(([, token]) => token));
  return [
    ...malformed.map((one) => `${one} is not a citation: write name#section`),
    ...[...cited]
      .filter(([section]) => !proved.has(section) && !excepted.has(section))
      .map(([section, places]) => `${section} is cited in ${places.join(", ")} but no test title carries it`),
  ];
}

export function renderStandards({ cited, proved, twins }: StandardsIndex): string {
  const unclaimed = [...proved].filter(([section]) => !cited.has(section));
  const files = (section: string): string => {
    const withTwin = twins.get(section) ?? [];
    return (proved.get(section) ?? [])
      .map((path) => (withTwin.includes(path) ? `${link(path)} (twin)` : link(path)))
      .join("<br>");
  };
  return generated(
    "Standards",
    "Every section the code cites (`//= rfc7636#4.6`), where it is enforced, and the tests whose titles carry it. In a twin an attack succeeds too, with one defence replaced. Sections of `bar` are rows of [security-requirements.md](security-requirements.md); deliberate gaps are in [exceptions.md](exceptions.md).",
    table(
      ["section", "enforced in", "proved by"],
      [...cited].map(([section, places]) => [sectionLink(section), places.map(place).join("<br>"), files(section)]),
    ),
    "## Proved without a citation",
    "Behaviour of several files together; no single line enforces it.",
    table(
      ["section", "proved by"],
      unclaimed.map(([section]) => [sectionLink(section), files(section)]),
    ),
  );
}

function place(cited: string): string {
  const [path = "", symbol] = cited.split(" ");
  return symbol === undefined ? link(path) : `${link(path)} \`${symbol}\``;
}

/** A section as a link to its RFC; of other documents only its name. */
export function sectionLink(section: string): string {
  const [, rfc, number] = /^rfc(\d+)#(.+)$/.exec(section) ?? [];
  if (rfc === undefined || number === undefined) return `\`${section}\``;
  const anchor = /^\d/.test(number) ? `section-${number}` : `appendix-${number}`;
  return `[${section}](https://www.rfc-editor.org/rfc/rfc${rfc}#${anchor})`;
}
