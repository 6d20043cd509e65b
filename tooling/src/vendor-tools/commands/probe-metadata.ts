/**
 * Compares the vendor's metadata with its entry: what the entry states must be what is published.
 * Called by probe.ts.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import {
  fieldOf,
  FIELDS,
  type MetadataField,
  type ResolvedVendor,
  type Vendor,
  wireName,
} from "@oauth-broker/oauth-core/registry";
import { type Discovered, discoverIssuer, type DiscoveryDeps, findDifference, listIn } from "./discovery.ts";
import { drift, type Finding, note, same, unasked } from "../finding.ts";
import { explain } from "../refusal.ts";

export interface MetadataProbe {
  readonly findings: readonly Finding[];
  readonly discovered?: Discovered;
}

const CHECK = "metadata";

export async function probeMetadata(vendor: Vendor, deps: DiscoveryDeps): Promise<MetadataProbe> {
  const { issuer } = vendor;
  if (issuer === undefined) return { findings: [note(CHECK, "the entry names no issuer")] };
  if (issuer.includes("{")) return { findings: [note(CHECK, "not checked: the issuer is one per tenant")] };
  try {
    const difference = vendor.serverUrl === undefined ? undefined : await findDifference(vendor, deps);
    const discovered = await discoverIssuer(issuer, deps);
    const asked = difference === undefined ? same(CHECK, discovered.address) : drift(CHECK, explain(difference));
    return { discovered, findings: [asked, ...compare(vendor, discovered)] };
  } catch (error) {
    return { findings: [unasked(CHECK, error) ?? unusable(vendor, error)] };
  }
}

/**
 * An entry that states its endpoints needs no metadata, but metadata of another issuer is an error.
 */
function unusable({ authorizationEndpoint, tokenEndpoint }: Vendor, error: unknown): Finding {
  const isNeeded = authorizationEndpoint === undefined || tokenEndpoint === undefined;
  const isWrong = error instanceof OAuthError && error.extras.reason !== undefined;
  return (isNeeded || isWrong ? drift : note)(CHECK, explain(error));
}

const IN_METADATA = (Object.keys(FIELDS) as (keyof Vendor)[]).filter(
  (name): name is MetadataField => fieldOf(name).inMetadata === true,
);
/** Capabilities that the vendor offers and an entry should use. */
const OFFERED: readonly string[] = ["revocationEndpoint", "registrationEndpoint"];

function compareEndpoints(vendor: Vendor, resolved: ResolvedVendor): Finding[] {
  return IN_METADATA.flatMap((field) => {
    const [entry, published] = [vendor[field], resolved[field]];
    if (published === undefined) return [];
    if (entry !== undefined) return [equal(wireName(field), entry, published)];
    return OFFERED.includes(field) ? [drift(wireName(field), `the entry has none, the metadata ${published}`)] : [];
  });
}

function compare(vendor: Vendor, { resolved, document }: Discovered): Finding[] {
  return [
    ...compareEndpoints(vendor, resolved),
    ...pkce(vendor, document),
    ...among("token_endpoint_auth_methods_supported", [vendor.tokenEndpointAuthMethod], document),
    ...among("scopes_supported", [...vendor.defaultScopes, ...vendor.offlineScopes], document),
    // When the entry leaves it open, flows use the metadata.
    equal(
      "authorization_response_iss_parameter_supported",
      String(vendor.issRequired ?? resolved.issExpected),
      String(resolved.issExpected),
    ),
    ...(vendor.issuesIdTokens === false ? [] : among(ALGS, vendor.idTokenAlgs, document, "some")),
  ];
}

function equal(name: string, entry: string, published: string): Finding {
  return entry === published ? same(name, entry) : drift(name, `the entry has ${entry}, the metadata ${published}`);
}

function pkce({ pkce }: Vendor, document: Discovered["document"]): Finding[] {
  const name = "code_challenge_methods_supported";
  const isFine = pkce === "none" && listIn(document, name)?.includes("S256") !== true;
  return isFine ? [] : among(name, [pkce], document);
}

const ALGS = "id_token_signing_alg_values_supported";

/** @param of whether all that the entry has must be published, or some of it */
function among(
  name: string,
  wanted: readonly string[],
  document: Discovered["document"],
  of: "all" | "some" = "all",
): Finding[] {
  const offered = listIn(document, name);
  if (offered === undefined || wanted.length === 0) return [];
  const [has = [], lacks = []] = [true, false].map((is) => wanted.filter((one) => offered.includes(one) === is));
  const isFine = of === "all" ? lacks.length === 0 : has.length > 0;
  return isFine
    ? [same(name, has.join(" "))]
    : [drift(name, `the entry has ${lacks.join(" ")}, the metadata ${words(offered)}`)];
}

/** Limits text of a document that may be long. */
function words(list: readonly string[]): string {
  return list.length === 0 ? "none" : `${list.slice(0, 8).join(" ")}${list.length > 8 ? " …" : ""}`;
}
