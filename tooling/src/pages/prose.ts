/**
 * The prose of every page: at most 100 columns wide, and without the words that docs/glossary.md
 * refuses. Tables, code blocks, headings and what has no space to break at may be wider. `npm run
 * docs` wraps a page, `npm run check` refuses one that is not.
 */
import { readRefusedWords, refusedIn as wordsRefusedIn } from "./refused-words.ts";
import { readTexts, ROOT } from "../sources.ts";

const COLUMNS = 100;

/** @returns path → text of every page, generated ones included */
export function readPages(root: string = ROOT): Map<string, string> {
  return readTexts(["*.md", "docs/**/*.md", "{apps,packages,e2e,examples}/**/*.md"], root);
}

/** @returns what is wrong, one sentence each */
export function checkProse(pages: ReadonlyMap<string, string>, glossary: string): string[] {
  const refused = readRefusedWords(glossary);
  return [...pages].flatMap(([path, text]) => {
    const wide = blocksOf(text)
      .filter((block) => wrap(block).join("\n") !== block.lines.join("\n"))
      .map(({ line }) => `${path}:${line} is wider than ${COLUMNS} columns: npm run docs wraps it`);
    // A generated page quotes names and paths; the glossary quotes the words themselves.
    const isQuoting = text.startsWith("<!-- Generated") || path === "docs/glossary.md";
    return isQuoting ? wide : [...wide, ...refusedIn(text, refused).map((problem) => `${path}:${problem}`)];
  });
}

function refusedIn(text: string, refused: ReadonlyMap<string, string>): string[] {
  // Lines stay, so that they can be counted.
  const prose = text
    .replace(/```[^]*?```/g, (code) => code.replace(/[^\n]/g, ""))
    .replace(/`[^`]*`|\]\([^)]*\)/g, (quoted) => quoted.replace(/[^\n]/g, ""));
  return prose
    .split("\n")
    .flatMap((line, index) =>
      wordsRefusedIn(line, refused).map((word) => `${index + 1}: not ${word} but ${refused.get(word) ?? ""}`),
    );
}

/**
 * Breaks the lines of paragraphs and list items that are too wide; nothing that is rendered
 * changes.
 */
export function wrapProse(text: string): string {
  return blocksOf(text).flatMap(wrap).join("\n");
}

interface Block {
  /** The number of its first line, from 1. */
  readonly line: number;
  readonly lines: readonly string[];
  /** A paragraph or an item of a list; any other line is a separate block. */
  readonly isProse: boolean;
}

const FENCE = /^\s*(?:```|~~~)/;
const ITEM = /^\s*(?:[-*+]|\d{1,2}[.)])\s+/;
const NO_PROSE = /^\s*(?:$|[#|<>])/;

function blocksOf(text: string): Block[] {
  const blocks: (Block & { readonly lines: string[] })[] = [];
  let isCode = false;
  for (const [index, line] of text.split("\n").entries()) {
    const isFence = FENCE.test(line);
    const isProse = !isCode && !isFence && !NO_PROSE.test(line);
    const last = blocks.at(-1);
    if (isProse && last?.isProse === true && !ITEM.test(line)) last.lines.push(line);
    else blocks.push({ line: index + 1, lines: [line], isProse });
    if (isFence) isCode = !isCode;
  }
  return blocks;
}

/**
 * What would be a list, a heading or the like at the start of a line stays behind the word before
 * it.
 */
const GLUED = / (?=(?:[-+*]|-+|=+|#{1,6}|\d+[.)]|[|<>]\S*)(?: |$))/g;
const NO_BREAK = "\u00A0";

function wrap({ lines, isProse }: Block): readonly string[] {
  if (!isProse || lines.every((line) => columns(line) <= COLUMNS)) return lines;
  const [first = ""] = lines;
  const [start = ""] = ITEM.exec(first) ?? /^\s*/.exec(first) ?? [];
  const text = [first.slice(start.length), ...lines.slice(1).map((line) => line.trim())].join(" ");
  // What is in backticks stays in one piece: other checks look for it on one line.
  const words = text.replace(GLUED, NO_BREAK).match(/(?:`[^`]+`|[^ `]|`)+/g) ?? [];
  const wrapped: string[] = [];
  let line = start + (words[0] ?? "");
  for (const word of words.slice(1)) {
    if (columns(`${line} ${word}`) > COLUMNS) {
      wrapped.push(line);
      line = " ".repeat(start.length) + word;
    } else line += ` ${word}`;
  }
  return [...wrapped, line].map((one) => one.replaceAll(NO_BREAK, " "));
}

const columns = (line: string): number => Array.from(line).length;
