/**
 * Opens the sealed half of a row as it was scanned, and compares its copy. Writes nothing and reads nothing again: what
 * has to change is then done by TokenRecords, over the row as it is by then.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { DataKeys } from "../keys/data-keys.ts";
import { TokenStoreError } from "../errors.ts";
import type { Row } from "../storage/token-rows.ts";
import { copyOf, isSameCopy, sealedHalfOf } from "../tokens/token-attributes.ts";
import { openHalf } from "../tokens/token-sealing.ts";

export interface InspectDeps {
  readonly dataKeys: DataKeys;
  readonly environment: string;
  readonly table: string;
}

/**
 * - `opens`: and its copy, if there is one, shows the same tokens
 * - `differs`: and its copy shows other tokens
 * - `unreadable`: altered, moved, or sealed for another issuer, table, environment or key
 */
export type Inspection = "opens" | "differs" | "unreadable";

/** @throws OAuthError temporarily_unavailable when the key service does not answer */
export async function inspect({ key, attributes }: Row, issuer: string, deps: InspectDeps): Promise<Inspection> {
  const { dataKeys, environment, table } = deps;
  try {
    const half = sealedHalfOf(attributes);
    if (half === undefined) return "unreadable";
    const { tokens } = await openHalf(half, { environment, table, key, issuer }, { dataKeys });
    const copy = copyOf(attributes);
    return copy === undefined || isSameCopy(tokens, copy) ? "opens" : "differs";
  } catch (error) {
    if (isUnreadable(error)) return "unreadable";
    throw error;
  }
}

/** Of this row and for good, unlike an outage. */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof OAuthError) return error.extras.reason === "token_unreadable";
  return error instanceof TokenStoreError && (error.code === "unreadable" || error.code === "format_unknown");
}
