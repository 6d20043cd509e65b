/** Parses a JSON object of the broker. */
import type { JsonObject } from "../ports.ts";

/** @returns undefined for a text that is not a JSON object */
export function parseMembers(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isMembers(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
