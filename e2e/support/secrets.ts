/**
 * Every secret that a test uses is planted here, and every output of every broker process is
 * searched for all of them when it stops (bar#OB-2). The registry belongs to one test file:
 * new-test-file.ts empties it before each.
 */
import { randomBytes } from "node:crypto";

const planted = new Map<string, string>();

/** Shorter values would be found by chance. */
const SHORTEST = 12;

/** @param what names the secret in a failure; the value itself is never printed */
export function plantSecret(what: string, value: string | null | undefined): void {
  if (value !== undefined && value !== null && value.length >= SHORTEST) planted.set(value, what);
}

/** A secret of 43 characters of base64url, planted. */
export function random(what: string): string {
  const value = randomBytes(32).toString("base64url");
  plantSecret(what, value);
  return value;
}

export function forgetSecrets(): void {
  planted.clear();
}

export function plantedCount(): number {
  return planted.size;
}

/** @returns what was found, by name, in any common encoding */
export function findSecrets(text: string): string[] {
  return [...planted].flatMap(([value, what]) => (spellings(value).some((form) => text.includes(form)) ? [what] : []));
}

function spellings(value: string): string[] {
  return [value, encodeURIComponent(value), Buffer.from(value).toString("base64").replace(/=+$/, "")];
}
