/** Names of strangers and of the operator, on pages that users decide by. */

/** Code points. */
export const LONGEST_SHOWN = 80;

/**
 * Controls, characters without a glyph (direction, joiners, fillers, tags, selectors), separators,
 * private use, and the empty braille cell.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]/gu;
/** More than two marks on one letter overlap the lines around it. */
const MARKS = /(\p{M}{2})\p{M}+/gu;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * Makes an untrusted name fit for a page that users decide by: one line, truncated, without
 * characters that hide or reorder letters.
 *
 * @param text untrusted
 * @returns empty where nothing of it can be seen; not escaped
 */
//= bar#AS-10
export function shownText(text: string, longest = LONGEST_SHOWN): string {
  const plain = text.toWellFormed().replace(UNSEEN, " ").replace(MARKS, "$1").replace(/\s+/g, " ").trim();
  const letters = Array.from(plain);
  const cut = letters.length > longest ? `${letters.slice(0, longest).join("")}…` : plain;
  // First-strong isolate: keeps the order of the surrounding sentence.
  return RIGHT_TO_LEFT.test(cut) ? `\u2068${cut}\u2069` : cut;
}

/** Whether it has a character that `shownText` leaves out. */
export function hasUnseen(text: string): boolean {
  return !text.isWellFormed() || text.search(UNSEEN) !== -1;
}
