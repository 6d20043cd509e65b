/** A JSON object of the broker's, or nothing. */
import type { JsonObject } from "@oauth-broker/oauth-core";

/** @returns undefined for what is no JSON object */
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
