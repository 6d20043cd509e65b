/**
 * The lines of the audit stream and how they hold together: each names its chain, its number in it
 * and the SHA-256 of the line before. A chain belongs to one process and one file, so that several
 * processes may write to one file, or to outputs that a collector merges. audit.ts decides what a
 * line says, verify.ts reads lines again.
 */
import { hash, randomBytes } from "node:crypto";

/** The last line of a chain. */
export interface Head {
  readonly chain: string;
  /** The number of the line in its chain, from 1; 0: the chain has no line yet. */
  readonly seq: number;
  /** SHA-256 of the line without its newline, in hexadecimal. */
  readonly hash: string;
}

/** The hash before the first line. */
export const NO_LINE: string = "0".repeat(64);

/** In every line of the stream. No other line has it: JSON escapes quotation marks in a value. */
export const MARK = '"stream":"audit"';

/** @param after hash of the last line found in the file, of any chain */
export function newChain(after: string = NO_LINE): Head {
  return { chain: randomBytes(16).toString("base64url"), seq: 0, hash: after };
}

/**
 * @param members what the line says, as JSON without braces
 * @returns the line, without newline, and the head that it makes
 */
export function nextLine(
  members: string,
  { chain, seq, hash: prev }: Head,
): { readonly line: string; readonly head: Head } {
  const line = `{${MARK},"chain":"${chain}","seq":${seq + 1},${members},"prev":"${prev}"}`;
  return { line, head: { chain, seq: seq + 1, hash: hashOf(line) } };
}

/** @param line without its newline */
export function hashOf(line: string | Uint8Array): string {
  return hash("sha256", line, "hex");
}
