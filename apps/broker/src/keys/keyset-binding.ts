/**
 * What a keyset is bound to: one base_url and one table. A keyset of staging is refused in
 * production, even if the same key of the key service opens both. keyset-storage.ts seals with it;
 * stores.ts supplies the place.
 */
import type { KeyContext } from "@oauth-broker/oauth-core";
import { keysUnavailable } from "./keys-unavailable.ts";

export interface KeysetPlace {
  readonly baseUrl: string;
  /** The region of a table, or `local`. */
  readonly environment: string;
  /**
   * The name of a DynamoDB table. A SQLite file may be moved, so there it is always `records`, the
   * name of its table.
   */
  readonly table: string;
}

export interface Binding {
  /** The encryption context of the data key: KMS compares it and CloudTrail shows it. */
  readonly context: KeyContext;
  /** Authenticated together with the keyset. */
  readonly fields: readonly string[];
}

/** Release 0.1.0 bound a keyset to nothing. */
export const UNBOUND: Binding = { context: { purpose: "keyset" }, fields: ["keyset"] };

//= bar#TS-3
/** @param revision bound too, so that an older keyset cannot pass for a newer one */
export function bindingOf({ baseUrl, environment, table }: KeysetPlace, revision: number): Binding {
  return {
    context: { purpose: "keyset", base_url: baseUrl, environment, table },
    fields: ["keyset 2", baseUrl, environment, table, String(revision)],
  };
}

export function isSamePlace(one: KeysetPlace, other: KeysetPlace): boolean {
  return one.baseUrl === other.baseUrl && one.environment === other.environment && one.table === other.table;
}

/** Names the place in messages for the operator. */
export function nameOf({ baseUrl, environment, table }: KeysetPlace): string {
  return environment === "local" ? `${baseUrl} on one machine` : `${baseUrl}, table ${table} in ${environment}`;
}

/**
 * Checks a key file, which is not sealed.
 * @throws OAuthError temporarily_unavailable, with a detail that names the command to run
 */
export function requireSameBaseUrl(found: unknown, ours: string, revision: number): void {
  //= bar#TS-3
  if (found === ours) return;
  throw keysUnavailable(
    `the keyset file belongs to ${typeof found === "string" ? found : "no base_url"}, and this broker is ${ours}. Give each a separate file. ` +
      `If base_url was changed on purpose: main.js keys adopt ${revision}`,
  );
}
