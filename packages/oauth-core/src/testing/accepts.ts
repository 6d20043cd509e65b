import { expect } from "vitest";
import { OAuthError } from "../protocol/errors.ts";

/** Whether `check` passes; anything it throws but an OAuthError fails the test. */
export function accepts(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(OAuthError);
    return false;
  }
}
