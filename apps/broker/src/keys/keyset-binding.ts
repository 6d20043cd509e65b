/**
 * What a keyset belongs to: one base_url and one table. A keyset of staging is none in production, though one key of the
 * key service may open both. keyset-storage.ts seals with it, stores.ts knows the place.
 */
import type { KeyContext } from "@oauth-broker/oauth-core";
import { keysUnavailable } from "./keys-unavailable.ts";

export interface KeysetPlace {
  readonly baseUrl: string;
  /** The region of a table, or `local`. */
  readonly environment: string;
  /** A DynamoDB table's name. A SQLite file may move, so it is always `records`, its table. */
  readonly table: string;
}

export interface Binding {
  /** Of the data key: what KMS compares and CloudTrail shows. */
  readonly context: KeyContext;
  /** Authenticated with the keyset. */
  readonly fields: readonly string[];
}

/** Release 0.1.0 bound a keyset to nothing. */
export const UNBOUND: Binding = { context: { purpose: "keyset" }, fields: ["keyset"] };

//= bar#TS-3
/** @param revision so that no older keyset passes for a newer one */
export function bindingOf({ baseUrl, environment, table }: KeysetPlace, revision: number): Binding {
  return {
    context: { purpose: "keyset", base_url: baseUrl, environment, table },
    fields: ["keyset 2", baseUrl, environment, table, String(revision)],
  };
}

export function isSamePlace(one: KeysetPlace, other: KeysetPlace): boolean {
  return one.baseUrl === other.baseUrl && one.environment === other.environment && one.table === other.table;
}

/** For the operator. */
export function nameOf({ baseUrl, environment, table }: KeysetPlace): string {
  return environment === "local" ? `${baseUrl} on one machine` : `${baseUrl}, table ${table} in ${environment}`;
}

/** Of a key file, which is not sealed. @throws OAuthError temporarily_unavailable, its detail naming the command that mends it */
export function requireSameBaseUrl(found: unknown, ours: string, revision: number): void {
  if (found === ours) return;
  throw keysUnavailable(
    `the keyset file belongs to ${typeof found === "string" ? found : "no base_url"}, and this broker is ${ours}. Give each a file of its own. ` +
      `If base_url was changed on purpose: main.js keys adopt ${revision}`,
  );
}
