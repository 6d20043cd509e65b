/**
 * What an entry of the registry says of a vendor, as the simulated vendor reads it: raw data by the
 * registry's types, never its code, and frozen, so that a change to the copy in the broker cannot
 * reach it.
 * A member that stands here without behaviour is a row of fact-table.ts. Read by every file of this
 * folder.
 */
import type { RegistryEntry, Vendor } from "@oauth-broker/oauth-core/registry";
import firstClass from "./first-class.json" with { type: "json" };

/** A JSON value as an entry holds it. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** The members of an entry that a vendor behaves by; an absent one has the default below. */
export interface Facts extends Omit<Vendor, "apiHosts" | "enabled" | "acceptsNewAuthorizations"> {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
}

/** How the vendor takes a token to revoke, if that is not RFC 7009. */
export type RevocationFacts = NonNullable<Facts["revocation"]>;

/** What an entry says of a `{placeholder}` of its URLs. */
export type PlaceholderFacts = RegistryEntry["placeholders"][string];

/** One entry: its facts with the defaults filled in, and what it stated itself. */
export interface Entry {
  readonly facts: Facts;
  readonly placeholders: Readonly<Record<string, PlaceholderFacts>>;
  /** As written, without defaults. */
  readonly stated: Readonly<Record<string, Json>>;
  /** How the vendor departs from the standard in words of the sources. */
  readonly quirks: readonly string[];
  /** Absent: the account is made from the entry, and can only agree with it. */
  readonly witness?: AccountWitness;
}

/** What others have seen the vendor's account answer. */
export interface AccountWitness {
  readonly body: Json;
  /** The identity in it, as they read it. */
  readonly user: string;
}

/** The standard's behaviour, and this registry's own convention if the standard has none. */
const DEFAULTS = {
  issuerSpelling: "exact",
  idTokenAlgs: ["RS256"],
  revokes: "either",
  pkce: "S256",
  scopeSeparator: " ",
  scopeParameter: "scope",
  defaultScopes: [],
  offlineScopes: [],
  resource: "send",
  parameterNames: {},
  authorizationParams: {},
  redeemAt: "token",
  tokenEndpointAuthMethod: "client_secret_basic",
  tokenRequestBody: "form",
  tokenResponseNames: {},
  tokenErrors: {},
  callbackErrors: {},
  callbackParams: [],
} as const;

/** An entry as it is written down, in the catalogue or in first-class.json. */
export interface WrittenEntry {
  readonly vendor: Readonly<Record<string, unknown>>;
  readonly serverUrl?: string;
  /** A text is the description of a placeholder that is free within its place. */
  readonly placeholders?: Readonly<Record<string, unknown>>;
  readonly quirks?: readonly string[];
}

/**
 * @param catalogue the text of the catalogue, a JSON list of entries
 * @param witnesses by id
 * @returns the entries by id; the vendors with a separate file come from the copy in this
 *   folder
 */
export function readEntries(
  catalogue: string,
  witnesses: ReadonlyMap<string, AccountWitness> = new Map(),
): ReadonlyMap<string, Entry> {
  const listed = JSON.parse(catalogue) as WrittenEntry[];
  const own = structuredClone(firstClass.entries) as unknown as WrittenEntry[];
  return new Map(
    [...listed, ...own].map((written) => {
      const id = String(written.vendor["id"]);
      return [id, readEntry(written, witnesses.get(id))];
    }),
  );
}

/** @throws Error when the entry has no id or lacks one of its two endpoints */
export function readEntry(
  { vendor: written, serverUrl, placeholders = {}, quirks = [] }: WrittenEntry,
  witness?: AccountWitness,
): Entry {
  const isOfMcpServer = quirks.includes("mcp_authorization_server") && written["issuer"] !== undefined;
  const vendor = isOfMcpServer && serverUrl?.includes("{") === false ? { ...written, serverUrl } : written;
  for (const name of ["id", "authorizationEndpoint", "tokenEndpoint"]) {
    if (typeof vendor[name] !== "string") throw new Error(`${String(vendor["id"])}: the entry has no ${name}`);
  }
  const specs = Object.entries(placeholders).map(([name, spec]) => [name, typeof spec === "object" ? spec : {}]);
  return freeze({
    facts: { ...DEFAULTS, ...vendor } as unknown as Facts,
    placeholders: Object.fromEntries(specs) as Record<string, PlaceholderFacts>,
    stated: vendor as Record<string, Json>,
    quirks,
    ...(witness === undefined ? {} : { witness }),
  });
}

/** Whether the vendor's own metadata has to have its endpoints. */
export function isOfMcpServer({ serverUrl }: Facts): boolean {
  return serverUrl !== undefined;
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
