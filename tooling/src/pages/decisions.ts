/**
 * The pages of docs/decisions: each has its number, title, date and status at the top, and the
 * numbers of the pages that were merged into it. The index lists all numbers. A number that is
 * cited has a separate page. Caller: main.ts.
 */
import { generated } from "./markdown.ts";
import { table } from "../tables.ts";

/** Where the index is written. */
export const DECISIONS_INDEX = "docs/decisions/README.md";

export interface Decision {
  readonly number: string;
  readonly title: string;
  readonly path: string;
  /** Empty when the page has no such line. */
  readonly date: string;
  readonly status: string;
  readonly merged: readonly string[];
}

const PAGE = /^docs\/decisions\/(\d{4})-[a-z0-9-]+\.md$/;

/** @param pages path → text; others than decisions are passed over */
export function readDecisions(pages: ReadonlyMap<string, string>): Decision[] {
  return [...pages]
    .flatMap(([path, text]) => {
      const [, number] = PAGE.exec(path) ?? [];
      if (number === undefined) return [];
      const field = (name: string): string => new RegExp(`^- ${name}: (.+)`, "m").exec(text)?.[1] ?? "";
      const [, title = ""] = /^# \d{4} (.+)\n/.exec(text) ?? [];
      const merged = field("Merged").match(/\d{4}/g) ?? [];
      return [{ number, title, path, date: field("Date"), status: field("Status"), merged }];
    })
    .sort((a, b) => Number(a.number) - Number(b.number));
}

/** @returns the index: a row for each page, with the numbers of those that were merged into it */
export function renderDecisions(decisions: readonly Decision[]): string {
  return generated(
    "Decisions",
    "What was decided, when, and why. A page holds as long as its status says `accepted`; its reasons are those of its date. A page that was merged stands as a section of the page that has its number in the last column. Numbers that are missing were never used. A new page takes the next number and the two lines `- Date:` and `- Status:` below its title.",
    table(
      ["number", "title", "date", "status", "merged into it"],
      decisions.map(({ number, title, path, date, status, merged }) => [
        `[${number}](${path.split("/").at(-1) ?? ""})`,
        title,
        date,
        status,
        merged.join(", "),
      ]),
    ),
  );
}

/** It cites decisions that there are not. */
const EXAMPLES = "tooling/src/pages/decisions.test.ts";

/**
 * @param texts path → text of each file that may cite a decision
 * @returns what is wrong, one sentence each
 */
export function checkDecisions(decisions: readonly Decision[], texts: ReadonlyMap<string, string>): string[] {
  const paths = new Set(decisions.map(({ path }) => path.split("/").at(-1)));
  const homes = new Map(decisions.flatMap(({ number, merged }) => merged.map((one) => [one, number] as const)));
  const numbers = decisions.flatMap(({ number, merged }) => [number, ...merged]);
  return [
    ...decisions.flatMap(({ path, title, date, status }) =>
      title !== "" && /^\d{4}-\d{2}-\d{2}$/.test(date) && status !== ""
        ? []
        : [`${path} begins with '# NNNN Title', '- Date: YYYY-MM-DD' and '- Status: accepted'`],
    ),
    ...numbers
      .filter((number, at) => numbers.indexOf(number) !== at)
      .map((number) => `docs/decisions has the number ${number} twice`),
    ...[...texts].flatMap(([path, text]) =>
      path === EXAMPLES
        ? []
        : [
            ...Array.from(text.matchAll(linkIn(path)), ([, file = ""]) => file)
              .filter((file) => !paths.has(file))
              .map((file) => `${path} links docs/decisions/${file}, which does not exist`),
            ...Array.from(text.matchAll(CITED), ([, number = ""]) => number)
              .filter((number) => !decisions.some((one) => one.number === number))
              .map((number) => `${path} cites decision ${number}, which is ${wordsFor(homes.get(number))}`),
          ],
    ),
  ];
}

/** "decision 0002", over the end of a line of a comment too, and `docs/decisions/0002`. */
const CITED = /\b(?:[Dd]ecision\s+(?:\*\s+|\/\/\s+)?|decisions\/)(\d{4})\b(?!-)/g;

const wordsFor = (home: string | undefined): string => (home === undefined ? "no page" : `merged into ${home}`);

/** A decision links its siblings by their file names alone. */
const linkIn = (path: string): RegExp =>
  path.startsWith("docs/decisions/") ? /\]\((\d{4}-[a-z0-9-]+\.md)/g : /\bdecisions\/(\d{4}-[a-z0-9-]+\.md)/g;
