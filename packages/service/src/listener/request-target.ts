/**
 * Which request targets are served: one of our plain paths. The path that a proxy in front compares
 * with the prefixes it publishes is then the path that we serve.
 */

/** What some server on the way reads as the end of a segment. */
const SEPARATOR = /[/\\]|%2f|%5c/i;
const DOT = /%2e/gi;

/**
 * @param target as received
 * @returns false for one with a dot segment or a backslash, plain or encoded, and for one that is
 *   not a path, such as a whole URL
 */
//= bar#HT-7
export function isPlainTarget(target: string): boolean {
  if (!target.startsWith("/")) return false;
  const path = target.split(/[?#]/, 1)[0] ?? "";
  if (!/[.\\]|%2e|%5c/i.test(path)) return true;
  if (/\\|%5c/i.test(path)) return false;
  return !path.split(SEPARATOR).some((segment) => {
    const name = segment.replace(DOT, ".");
    return name === "." || name === "..";
  });
}
