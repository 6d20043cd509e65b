/**
 * Which request targets are served: one of our plain paths, at one host. The path that a proxy in
 * front compares with the prefixes it publishes is then the path that we serve.
 */
import type { IncomingMessage } from "node:http";

/** What some server on the way reads as the end of a segment. */
const SEPARATOR = /\/|%2f/i;
/** A backslash, or an encoded character that needs no encoding: another spelling of a path. */
const OTHER_SPELLING = /\\|%5c|%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i;

/**
 * @param target as received
 * @returns false for one with a dot segment, a backslash or an unreserved character that is
 *   encoded, and for one that is not a path, such as a whole URL
 */
export function isPlainTarget(target: string): boolean {
  if (!target.startsWith("/")) return false;
  if (!/^[^?#.\\%]*[.\\%]/.test(target)) return true;
  const [path = ""] = target.split(/[?#]/, 1);
  //= bar#HT-7
  if (OTHER_SPELLING.test(path)) return false;
  return !path.split(SEPARATOR).some((segment) => segment === "." || segment === "..");
}

/**
 * A proxy in front may compare another line than we do.
 *
 * @returns false for a request with two lines, and for one without any: only HTTP/1.0 allows that
 */
//= rfc9112#3.2
export function namesOneHost({
  rawHeaders,
  httpVersion,
}: Pick<IncomingMessage, "rawHeaders" | "httpVersion">): boolean {
  let lines = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") lines += 1;
  }
  return lines === 1 || (lines === 0 && httpVersion === "1.0");
}
