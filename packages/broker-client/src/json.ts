/**
 * JSON without the loss of digits: vendors write ids beyond 2^53, and JSON.parse makes another id
 * of one. Such numbers become text. Works on every engine: not all of them give a reviver the
 * source.
 */
import type { JsonObject } from "./ports.ts";

/** A string of JSON, to be skipped, or a number. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/**
 * As JSON.parse, except that a number beyond 2^53 is a text with the digits it was written with.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  // Before the rewriting, which could make JSON of a text that is not JSON.
  const value: unknown = JSON.parse(text);
  const exact = text.replace(TOKENS, (token) => (isTooLarge(token) ? `"${token}"` : token));
  return exact === text ? value : JSON.parse(exact);
}

function isTooLarge(token: string): boolean {
  return !token.startsWith('"') && Math.abs(Number(token)) > Number.MAX_SAFE_INTEGER;
}

/** @returns undefined for a text that is not a JSON object */
export function parseMembers(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isMembers(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
