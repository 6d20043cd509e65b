/**
 * The tokens that this client has just revoked: what a refresh of one was answered is revoked too,
 * and handed to no caller.
 */
import { hash } from "node:crypto";
import { type Clock, createExpiringMap } from "@oauth-broker/oauth-core";

/** Longer than a refresh and a revocation of one token take together. */
const KEPT_SECONDS = 60;
const MOST = 10_000;

export function createRevocations(now: Clock) {
  const made = createExpiringMap<Promise<unknown>>(MOST, now);
  return {
    add: (token: string, revocation: Promise<unknown>): void =>
      made.set(hash("sha256", token), revocation, now() + KEPT_SECONDS),
    /** Whether the vendor has revoked it. Waits for a revocation under way. */
    has: async (token: string): Promise<boolean> => {
      const revocation = made.get(hash("sha256", token));
      return revocation === undefined ? false : revocation.then(() => true).catch(() => false);
    },
  };
}
