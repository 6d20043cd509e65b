/**
 * Authorization codes: random, short-lived, valid once. The response to a bad one differs by
 * vendor.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../clock.ts";

export interface Codes<Bound> {
  /** @returns a new code for the approved request */
  issue(bound: Bound): string;
  /** Reads without spending; undefined for a code that was never issued. */
  find(code: string | undefined): { readonly state: "live" | "expired" | "spent"; readonly bound: Bound } | undefined;
  spend(code: string): void;
}

/** @param make the vendor's own form of a code; default 32 random characters */
export function createCodes<Bound>(
  lifetimeSeconds: number,
  { now }: { readonly now: Clock },
  make: () => string = () => randomBytes(24).toString("base64url"),
): Codes<Bound> {
  const codes = new Map<string, { readonly bound: Bound; readonly expiresAt: number; spent: boolean }>();
  return {
    issue(bound) {
      const code = make();
      codes.set(code, { bound, expiresAt: now() + lifetimeSeconds, spent: false });
      return code;
    },
    find(code) {
      const held = codes.get(code ?? "");
      if (held === undefined) return undefined;
      const state = held.spent ? "spent" : held.expiresAt <= now() ? "expired" : "live";
      return { state, bound: held.bound };
    },
    spend(code) {
      const held = codes.get(code);
      if (held !== undefined) held.spent = true;
    },
  };
}
