import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";

/**
 * Reads a file that an operator wrote. Bytes that are not UTF-8 are refused: as text each becomes
 * U+FFFD, in a name that users see, or in a secret, where all such bytes are then the same.
 *
 * @throws the file system's own error, or one whose `code` is `not UTF-8`
 */
export function readTextFile(path: string): string {
  const bytes = readFileSync(path);
  if (isUtf8(bytes)) return bytes.toString("utf8");
  throw Object.assign(new Error(`${path} is not UTF-8`), { code: "not UTF-8" });
}
