/**
 * The vendors known from lists of others, as data: catalogue.json, one entry a line, checked entry
 * by entry by catalogue.test.ts and only read here. An entry is on when two sources agree on its
 * endpoints, none disagrees, no placeholder chooses the domain, and `Vendor` can express everything
 * it needs; any other waits for an operator's `enabled: true`. A vendor that deserves more gets a
 * file of its own. Listed by registry.ts.
 */
import { defined } from "../mechanics/defined.ts";
import { fillsRegistrableDomain, type PlaceholderSpecs } from "../protocol/placeholders.ts";
import data from "./catalogue.json" with { type: "json" };
import type { EndpointVerification, RegistryEntry } from "./registry-entry.ts";
import { defineVendor, type Vendor } from "./vendor.ts";

/** What an entry may state of a vendor in the members of `Vendor`; absent: its default. */
type VendorFacts = Pick<Vendor, "id" | "name"> &
  Partial<
    Pick<
      Vendor,
      | "issuer"
      | "issuerSpelling"
      | "refreshEndpoint"
      | "revocationEndpoint"
      | "revocation"
      | "revokes"
      | "registrationEndpoint"
      | "jwksUri"
      | "userinfoEndpoint"
      | "pkce"
      | "scopeSeparator"
      | "defaultScopes"
      | "offlineScopes"
      | "defaultResource"
      | "parameterNames"
      | "authorizationParams"
      | "tokenEndpointAuthMethod"
      | "clientSecret"
      | "tokenRequestBody"
      | "tokenResponseMember"
      | "tokenResponseNames"
      | "tokenExpiry"
      | "tokenResult"
      | "tokenErrors"
      | "issuesRefreshTokens"
      | "rotatesRefreshTokens"
      | "callbackParams"
    >
  > & { readonly authorizationEndpoint: string; readonly tokenEndpoint: string };

export interface CatalogueEntry extends EndpointVerification {
  readonly vendor: VendorFacts;
  /** The meaning of each placeholder of its URLs, in words. */
  readonly placeholders?: Readonly<Record<string, string>>;
  readonly serverUrl?: string;
  /** The repository and the path in it. */
  readonly sources: readonly string[];
  /** What speaks against the vendor's API. */
  readonly status?: string;
  /** What the vendor needs and no field of `Vendor` can express. */
  readonly unsupported?: readonly string[];
  /**
   * How the vendor departs from the standard according to its sources; what each quirk means here:
   * catalogue-quirks.test.ts.
   */
  readonly quirks?: readonly string[];
}

/** The day the list was compiled from its sources; no vendor was contacted. */
const COMPILED_ON = "2026-11-21";

/** As written. The test of the file guarantees this type. */
export const CATALOGUE: readonly CatalogueEntry[] = data as unknown as readonly CatalogueEntry[];

/**
 * Why an entry is off until an operator turns it on.
 *
 * @returns the end of a sentence for each reason; empty when it is on
 */
export function reasonsOff(entry: CatalogueEntry): string[] {
  const { authorizationEndpoint, tokenEndpoint } = entry.vendor;
  const choosesDomain = [authorizationEndpoint, tokenEndpoint].some((url) => fillsRegistrableDomain(url));
  return [
    ...(entry.agreeing < 2 ? ["fewer than two sources agree on its endpoints"] : []),
    ...(entry.disagreements === undefined ? [] : ["another source has other endpoints"]),
    ...(choosesDomain ? ["a placeholder chooses the domain"] : []),
    ...(entry.status === undefined ? [] : [entry.status]),
    ...(entry.unsupported ?? []),
  ];
}

export function catalogueEntry(entry: CatalogueEntry): RegistryEntry {
  const { vendor, placeholders, serverUrl, sources, confidence, agreeing, disagreements, quirks } = entry;
  const off = reasonsOff(entry);
  const enabled = off.length === 0;
  return {
    vendor: defineVendor({ ...vendor, enabled }),
    placeholders: placeholders === undefined ? {} : specs(placeholders, vendor),
    setup: "none",
    byoc: true,
    ...defined({ serverUrl }),
    verification: {
      status: enabled ? "two-sources" : "listed",
      checkedOn: COMPILED_ON,
      sources,
      endpoints: { confidence, agreeing, ...defined({ disagreements }) },
      ...defined({ quirks }),
      ...(enabled ? {} : { reasonsOff: off }),
    },
  };
}

/** A placeholder that is a whole host takes a host; any other follows the rule of its place. */
function specs(descriptions: Readonly<Record<string, string>>, facts: VendorFacts): PlaceholderSpecs {
  const urls = Object.values(facts).filter((value) => typeof value === "string");
  return Object.fromEntries(
    Object.entries(descriptions).map(([name, description]) => {
      const isHost = urls.some((url) => url === `https://{${name}}` || url.startsWith(`https://{${name}}/`));
      return [name, { description, ...(isHost ? { kind: "host" as const } : {}) }];
    }),
  );
}
