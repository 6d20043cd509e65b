/**
 * Reads docs/security-requirements.md, the page of the rows of the security bar, and compares
 * them with the titles of the tests and with what cites a row. Nothing lists which test proves
 * which row: titles say it.
 */
import { tablesIn } from "../tables.ts";

/** From the root. */
export const REQUIREMENTS_PAGE = "docs/security-requirements.md";

/** One row: an attack or a fault, and the required outcome. */
export interface Requirement {
  /** Family and number: tests and code cite it as `bar#CB-6`. */
  readonly id: string;
  readonly text: string;
  /** The same attack succeeds in a test, with one defence replaced. */
  readonly hasTwin: boolean;
  /** Why the row has no test; undefined if the row is ours. */
  readonly notOurs: string | undefined;
}

const NOT_OURS = " **Not ours:** ";

export function readRequirements(page: string): Requirement[] {
  const rows = tablesIn(page).flatMap((table) => table.rows);
  return rows.map(([id = "", cell = "", twin]) => {
    const [text = "", notOurs] = cell.split(NOT_OURS);
    return { id, text, hasTwin: twin === "yes", notOurs };
  });
}

/** `bar#CB-6`; the scripted attacks by name, `X-1`, not `XA-1`; the lab of vendors, which is ID-1, by numbers, `V-1`. */
const IN_TITLE = /(?<![\w/])bar#(\w+(?:[.-]\w+)*)|(?<![\w-])(?:(X-\d+)|V-\d+)(?![\d-])/g;

/** @returns the rows that the title of a test carries */
export function rowsIn(title: string): string[] {
  return [...title.matchAll(IN_TITLE)].map(([, cited, scripted]) => cited ?? scripted ?? "ID-1");
}

export const isTwin = (title: string): boolean => /\btwins?\b/i.test(title);

/**
 * What is cited in a text: everything after `bar#`, so that a misspelt family is found too; in prose
 * without the sign, `bar CB-6`.
 */
export function citationsIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w/])bar(?:#(\w[\w.-]*\w)| ([A-Z]{1,2}-\d+))/g)]
    .map(([, cited = "", named = ""]) => cited + named)
    .filter((id) => id !== "ID");
}

/**
 * @param index the sections that titles carry, and those of twins
 * @param citing path → text of everything that may cite a row
 * @returns what is wrong, one sentence each
 */
export function checkRequirements(
  requirements: readonly Requirement[],
  { proved, twins }: Readonly<Record<"proved" | "twins", Pick<ReadonlySet<string>, "has">>>,
  citing: ReadonlyMap<string, string>,
): string[] {
  const known = new Set(requirements.map(({ id }) => id));
  return [
    ...requirements.filter(({ id }, at) => requirements.findIndex((one) => one.id === id) !== at).map(twice),
    ...requirements.flatMap(({ id, text, hasTwin, notOurs }) => {
      const isProved = proved.has(`bar#${id}`);
      const problems = /^[A-Z`].*\.$/.test(text) ? [] : [`${id} is no whole sentence`];
      if (notOurs !== undefined) {
        if (notOurs.length < 20) problems.push(`${id} is not ours, without a reason`);
        if (isProved || hasTwin) problems.push(`${id} is not ours, and has a test`);
      } else if (!isProved) problems.push(`${id} stands in no title of a test`);
      if (hasTwin !== twins.has(`bar#${id}`))
        problems.push(
          hasTwin ? `${id} has a twin, which no title shows` : `${id} has a twin, which the row does not say`,
        );
      return problems;
    }),
    ...[...citing].flatMap(([path, text]) =>
      citationsIn(text).flatMap((id) => (known.has(id) ? [] : [`${path} cites ${id}, and there is no such row`])),
    ),
  ];
}

const twice = ({ id }: Requirement): string => `${id} is there twice`;
