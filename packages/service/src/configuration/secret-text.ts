/**
 * Secrets and client ids as they arrive: pasted into a file, a variable, a secret store. One rule
 * for every source, so that a secret that starts a service from one starts it from all.
 */
import { checkVisible, type Parsed } from "./values.ts";

/**
 * Without a byte order mark and final line ends: editors, `echo` and secret stores add them, and no
 * secret has them.
 */
export function withoutFileMarks(text: string): string {
  return text.replace(/^\uFEFF/, "").replace(/[\r\n]+$/, "");
}

/**
 * @param text as written; it is never repeated
 * @param check what else it must be
 * @returns the value to use, or what is wrong as the end of a sentence
 */
export function readSecret(text: string, check: (value: string) => string | undefined = checkVisible): Parsed<string> {
  const value = withoutFileMarks(text);
  const problem = value === "" ? "is empty" : (checkEdges(value) ?? check(value));
  return problem === undefined ? { value } : { problem };
}

/** What a container's file of variables leaves around a value. */
function checkEdges(value: string): string | undefined {
  if (/^[\s\uFEFF]|[\s\uFEFF]$/u.test(value)) return "must not begin or end with white space";
  return /^["'`]|["'`]$/.test(value) ? "must not begin or end with a quotation mark" : undefined;
}
