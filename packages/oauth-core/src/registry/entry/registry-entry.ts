/**
 * What the registry says of a vendor beyond its protocol (vendor.ts): what has to be arranged
 * first, where its MCP server is, and how the facts were checked. Created by the vendor's own file,
 * listed by registry.ts.
 */
import type { ClientsOf } from "./clients-of.ts";
import type { PlaceholderSpecs } from "../../protocol/placeholders.ts";
import type { Sunset } from "./sunset.ts";
import type { PkceMethod, Vendor } from "../vendor.ts";

/**
 * `vendor_approval`: the vendor approves each organization before any flow. `environment_id`: the
 * organization names its environment, which is part of `serverUrl`, and its administrator consents
 * once.
 */
export type VendorSetup = "none" | "vendor_approval" | "environment_id";

/** How the facts of an entry were checked, and when. */
export interface Verification {
  readonly status: "first-class" | "two-sources" | "listed";
  /** YYYY-MM-DD */
  readonly checkedOn: string;
  /** URLs, or a repository and the path in it. */
  readonly sources: readonly string[];
  /** The facts that have another source, by member. `checkedOn` is for the others. */
  readonly checks?: Readonly<Partial<Record<keyof Vendor, FactCheck>>>;
  /** For an entry of the catalogue: how certain its endpoints are. */
  readonly endpoints?: EndpointVerification;
  /**
   * For an entry of the catalogue: how the vendor departs from the standard according to its
   * sources.
   */
  readonly quirks?: readonly string[];
  /** For an entry of the catalogue: its facts that no source was seen for. */
  readonly recalled?: readonly string[];
  /**
   * Why the entry is off until an operator turns it on: the end of a sentence for each reason.
   * Absent: it is on.
   */
  readonly reasonsOff?: readonly string[];
}

/** When and by what a fact was checked, if not with the rest of its entry. */
export interface FactCheck {
  /** YYYY-MM-DD */
  readonly checkedOn: string;
  /** One of the entry's sources. */
  readonly source: string;
}

/** How sure the endpoints of an entry are. */
export interface EndpointVerification {
  readonly confidence: "high" | "medium" | "low";
  /** How many sources agree on both endpoints. */
  readonly agreeing: number;
  /** Sources that have another endpoint, and which. */
  readonly disagreements?: readonly string[];
  /** Other addresses in the sources, each with the reason against it. */
  readonly superseded?: readonly string[];
}

/** What has to be arranged before the first flow, in a sentence, and the page that says so. */
export interface SetupNote {
  readonly text: string;
  readonly source: string;
}

/** An entry beside the one of this id, for the vendor's apps of another generation. */
export interface GenerationOf {
  readonly id: string;
  /** Which apps are of this entry, in words. */
  readonly apps: string;
}

/** A vendor of the registry, and what its operator has to know. */
export interface RegistryEntry {
  readonly vendor: Vendor;
  /** Other names users know the vendor by. Each finds this entry wherever an id is taken. */
  readonly aliases?: readonly string[];
  /** The placeholders of its endpoint templates and of `serverUrl`. */
  readonly placeholders: PlaceholderSpecs;
  readonly setup: VendorSetup;
  readonly setupNote?: SetupNote;
  readonly generationOf?: GenerationOf;
  /** Unset: as the placeholders say (`usualClientsOf`). */
  readonly clientsOf?: ClientsOf;
  /** Customers may use their own app. Clients made by dynamic registration are not such apps. */
  readonly byoc: boolean;
  /** The vendor's MCP server as a URL; may hold `{placeholders}`. */
  readonly serverUrl?: string;
  /** What the vendor has announced to end. */
  readonly sunsets?: readonly Sunset[];
  readonly verification: Verification;
}

/** What a platform can do with a vendor, in the terms of `/v1/vendors`. */
export interface VendorCapabilities {
  readonly pkce: PkceMethod;
  readonly oidc: boolean;
  /** Clients can register themselves. */
  readonly dcr: boolean;
  readonly refresh: boolean;
  readonly revocation: boolean;
  readonly byoc: boolean;
}

/**
 * @param entry without `verification` it is the operator's own, whose endpoints may be discovered
 */
export function capabilitiesOf(
  entry: Pick<RegistryEntry, "vendor" | "byoc"> & Partial<Pick<RegistryEntry, "verification">>,
): VendorCapabilities {
  const { vendor, byoc, verification } = entry;
  const isDiscovered = vendor.issuer !== undefined;
  return {
    pkce: vendor.pkce,
    oidc: isDiscovered && vendor.issuesIdTokens !== false && isOpenIdConnect(vendor),
    // Registration comes before any tenant is known, so a template gives no address for it.
    dcr: vendor.registrationEndpoint?.includes("{") === false,
    refresh: vendor.issuesRefreshTokens !== false,
    revocation: vendor.revocationEndpoint !== undefined || (isDiscovered && verification === undefined),
    byoc,
  };
}

/** The issuer of an MCP server is OAuth's (rfc8414#2): OpenID Connect's has keys, or the `openid` scope. */
function isOpenIdConnect({ serverUrl, jwksUri, defaultScopes, offlineScopes }: Vendor): boolean {
  return serverUrl === undefined || jwksUri !== undefined || [...defaultScopes, ...offlineScopes].includes("openid");
}
