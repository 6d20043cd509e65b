/** Typing errors: the known word that was probably meant. */

/**
 * The known word closest to the given one, if close enough to be a typing error.
 *
 * @param most how many letters may be wrong
 */
export function nearest(
  written: string,
  known: Iterable<string>,
  most: number = Math.max(1, Math.floor(written.length / 3)),
): string | undefined {
  const text = written.toLowerCase().slice(0, LONGEST);
  let best: string | undefined;
  let least = most + 1;
  for (const word of known) {
    // A stranger may ask for it among hundreds: words that cannot be nearer are not compared.
    if (Math.abs(word.length - text.length) >= least) continue;
    const distance = editDistance(text, word.toLowerCase(), least);
    if (distance < least) [best, least] = [word, distance];
  }
  return best;
}

const LONGEST = 64;
/** Two rows, used again for each comparison. */
const rows = [new Uint16Array(256), new Uint16Array(256)] as const;

/**
 * Levenshtein distance, one row at a time.
 *
 * @returns `enough` or more for one that is not below it
 */
function editDistance(a: string, b: string, enough: number): number {
  let [row, next] = b.length < rows[0].length ? rows : [new Uint16Array(b.length + 1), new Uint16Array(b.length + 1)];
  for (let j = 0; j <= b.length; j += 1) row[j] = j;
  for (let i = 1; i <= a.length; i += 1) {
    next[0] = i;
    let smallest = i;
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      const distance = Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      next[j] = distance;
      if (distance < smallest) smallest = distance;
    }
    if (smallest >= enough) return enough;
    [row, next] = [next, row];
  }
  return row[b.length] ?? 0;
}
