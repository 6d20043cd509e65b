/**
 * Checks every name that product code declares, and every comment, against the words that
 * docs/glossary.md refuses.
 */
import type { Violation } from "../code/boundaries.ts";
import type { SourceFile } from "../sources.ts";
import { tablesIn } from "../tables.ts";

const HEADING = "## Not these words";

/** @returns the left column of the glossary's last table, each word with its replacement */
export function readRefusedWords(glossary: string): Map<string, string> {
  const rows = tablesIn(glossary.split(HEADING)[1] ?? "").flatMap((table) => table.rows);
  return new Map(rows.flatMap(([not = "", but = ""]) => not.split(", ").map((word) => [word, but] as const)));
}

/** @throws Error when the glossary has no such table, because nothing would be checked */
export function checkWords(files: readonly SourceFile[], glossary: string): Violation[] {
  const refused = readRefusedWords(glossary);
  if (refused.size === 0) throw new Error(`docs/glossary.md has no table under "${HEADING}"`);
  const refuse = (path: string, line: number, where: string, words: readonly string[]): Violation[] =>
    words.flatMap((word) => {
      const but = refused.get(word);
      return but === undefined ? [] : [{ rule: "words", path, line, message: `${where}: not ${word} but ${but}` }];
    });
  return files.flatMap(({ kind, path, names, text }) => [
    ...(kind === "product" ? [...names].flatMap((name) => refuse(path, 1, name, wordsOf(name))) : []),
    ...text.split("\n").flatMap((line, index) => refuse(path, index + 1, "comment", wordsOfComment(line, refused))),
  ]);
}

/** Its own comment or a line of one; a citation (`//=`) has no words. What is quoted is ignored. */
const COMMENT = /^\s*(?:\/\*\*|\*|\/\/(?!=))(.*)$/;

function wordsOfComment(line: string, refused: ReadonlyMap<string, string>): string[] {
  const [, comment = ""] = COMMENT.exec(line) ?? [];
  return refusedIn(comment.replace(/`[^`]*`|"[^"]*"/g, ""), refused);
}

/** @returns the refused words of a line, and the refused phrases, which have spaces */
export function refusedIn(line: string, refused: ReadonlyMap<string, string>): string[] {
  const words = line.toLowerCase().match(/[a-z]+/g) ?? [];
  const text = ` ${words.join(" ")} `;
  return [
    ...words.filter((word) => refused.has(word)),
    ...[...refused.keys()].filter((one) => one.includes(" ") && text.includes(` ${one} `)),
  ];
}

/** `isHTTPLayer` → is, http, layer; `MAX_FILES` → max, files. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .split("_");
}
