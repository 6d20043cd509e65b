/**
 * Where each fact of an entry of the catalogue comes from: a source of that very fact, or only the
 * sources of the entry as a whole. Read by docs/vendors.md and by the test beside this file.
 */
import type { CatalogueEntry } from "../../registry/catalogue.ts";
import { defineVendor, type Vendor } from "../../registry/vendor.ts";
import type { Witness } from "./witnesses.ts";

/**
 * - `own`: a check of the entry, a source that begins with what it states, or a witness.
 * - `recalled`: the entry says that no source was seen.
 * - `entry`: the sources of the entry, of which none is said to state it. Counts as recalled.
 */
export type FactSource = "own" | "recalled" | "entry";

/** A member of `Vendor` that an entry states, and that is not the default. */
export interface SourcedFact {
  readonly id: string;
  readonly field: keyof Vendor;
  readonly source: FactSource;
}

const DEFAULTS: Vendor = defineVendor({ id: "default", name: "default" });

/** The fields that a source states which begins with this word and a colon. */
const LABELS: Readonly<Partial<Record<keyof Vendor, readonly string[]>>> = {
  issuer: ["issuer", "metadata"],
  jwksUri: ["metadata"],
  registrationEndpoint: ["registration", "metadata"],
  refreshEndpoint: ["refresh path", "refresh"],
  revocationEndpoint: ["revocation", "revocation path", "revoke path", "metadata"],
  revocation: ["revocation", "v1 revocation"],
  revokes: ["revocation"],
  userinfoEndpoint: ["userinfo"],
  tokenErrors: ["errors"],
  tokenExpiry: ["lifetime"],
  defaultLifetimeSeconds: ["lifetime"],
  defaultRefreshLifetimeSeconds: ["refresh lifetime"],
};

/** @returns one row for each fact of the entries */
export function sourcesOfFacts(
  entries: readonly CatalogueEntry[],
  witnesses: readonly Witness[],
): readonly SourcedFact[] {
  const known = new Map(witnesses.map((witness) => [witness.id, witness]));
  return entries.flatMap((entry) => {
    const fields = Object.keys(entry.vendor) as (keyof CatalogueEntry["vendor"])[];
    const stated = fields.filter((field) => !["id", "name"].includes(field) && !isDefault(entry, field));
    const witness = known.get(entry.vendor.id);
    return stated.map((field) => ({ id: entry.vendor.id, field, source: sourceOf(entry, field, witness) }));
  });
}

type Field = keyof CatalogueEntry["vendor"];

function isDefault({ vendor }: CatalogueEntry, field: Field): boolean {
  return JSON.stringify(vendor[field]) === JSON.stringify(DEFAULTS[field]);
}

function sourceOf(entry: CatalogueEntry, field: Field, witness: Witness | undefined): FactSource {
  const { checks, recalled, sources } = entry;
  if (recalled?.includes(field) === true) return "recalled";
  if (field === "authorizationEndpoint" || field === "tokenEndpoint" || checks?.[field] !== undefined) return "own";
  const labels = LABELS[field] ?? [];
  if (sources.some((source) => labels.some((label) => source.startsWith(`${label}: `)))) return "own";
  return witness !== undefined && isWitnessed(entry, field, witness) ? "own" : "entry";
}

function isWitnessed({ vendor }: CatalogueEntry, field: Field, witness: Witness): boolean {
  const { extra = {}, token, account, client_auth: methods = [] } = witness;
  const seen: Readonly<Partial<Record<Field, unknown>>> = {
    scopeSeparator: witness.scope_separator,
    pkce: witness.pkce,
    tokenEndpointAuthMethod: methods.find((method) => method === vendor.tokenEndpointAuthMethod),
    authorizationParams: extra.authorization,
    codeExchangeParams: extra.token,
    refreshParams: extra.refresh,
    callbackParams: extra.callback,
    tokenRequestBody: extra.token_request_body,
    refreshEndpoint: extra.refresh_url,
    rotatesRefreshTokens: token?.refresh_rotates ?? undefined,
    userinfoEndpoint: account?.url,
    revocationEndpoint: witness.revocation?.url,
  };
  return seen[field] !== undefined && textOf(seen[field]) === textOf(vendor[field]);
}

/** Parameters are texts in an entry. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (["number", "boolean"].includes(typeof one) ? String(one) : one));
}
