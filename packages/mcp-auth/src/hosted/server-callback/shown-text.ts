/** Names from outside, made fit for a page a user decides by: one line, cut, nothing in it that hides or reorders letters. */

const LONGEST_SHOWN = 80;
/** Controls, what asks for no glyph (direction, joiners, fillers, tags, selectors), separators, private use, and the empty braille cell. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]/gu;
/** More than two marks on one letter run over the lines around it. */
const MARKS = /(\p{M}{2})\p{M}+/gu;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * @param text of anybody
 * @returns never empty; not escaped
 */
//= bar#AS-10
export function shownText(text: string, longest = LONGEST_SHOWN): string {
  const plain = text.toWellFormed().replace(UNSEEN, " ").replace(MARKS, "$1").replace(/\s+/g, " ").trim();
  if (plain === "") return "An application without a name";
  const letters = Array.from(plain);
  const cut = letters.length > longest ? `${letters.slice(0, longest).join("")}…` : plain;
  // First-strong isolate: the sentence around it keeps its order.
  return RIGHT_TO_LEFT.test(cut) ? `\u2068${cut}\u2069` : cut;
}
