/**
 * A vendor's endpoints from its issuer alone: its published metadata, read strictly and cached.
 * Runs when a flow starts, never at process start. An entry's own statements take precedence over
 * metadata; for a vendor whose entry states its endpoints, metadata is read when it is available,
 * and that of an MCP server has to say the same (live.ts).
 */
import { defined } from "../../mechanics/defined.ts";
import { createExpiringMap, oncePerObject } from "../../mechanics/expiring-map.ts";
import { OAuthError } from "../../protocol/errors.ts";
import {
  DEFAULT_ID_TOKEN_ALGS,
  RESPONSE_MODES,
  type ResolvedVendor,
  type TokenEndpointAuthMethod,
  type Vendor,
  type VendorDemand,
} from "../../registry/vendor.ts";
import { FIELDS, METADATA_FIELDS } from "../../registry/fields.ts";
import type { Deadline } from "../deadline.ts";
import { loadMetadata, type VendorMetadata } from "./document.ts";
import { createRefreshingCache, type RefreshingCache } from "./cache.ts";
import type { VendorClientDeps } from "../binding.ts";
import { invalidVendorResponse } from "../errors.ts";
import { createLiveMetadata, isOfMcpServer, requireStoredEndpoints } from "./live.ts";

export interface Discovery {
  /** @throws OAuthError vendor_response_invalid, temporarily_unavailable */
  readonly metadata: (issuer: string, deadline?: Deadline) => Promise<VendorMetadata>;
  /**
   * The entry with its endpoints. The same object again as long as neither entry nor metadata
   * changes.
   */
  readonly resolve: (vendor: Vendor) => Promise<ResolvedVendor>;
}

export function createDiscovery(deps: VendorClientDeps): Discovery {
  const documents = createRefreshingCache((issuer) => loadMetadata(issuer, deps), deps.now);
  const advertised = createAdvertised(documents, deps);
  const modes: ReadonlySet<string> = new Set(deps.takesFormPost === true ? RESPONSE_MODES : ["query"]);
  const resolved = new WeakMap<
    Vendor,
    { readonly from: VendorMetadata | undefined; readonly vendor: ResolvedVendor }
  >();
  const metadataFor = (vendor: Vendor): Promise<VendorMetadata | undefined> | undefined => {
    if (needsDiscovery(vendor)) return documents.get(vendor.issuer);
    return hasAdvertised(vendor) ? advertised(vendor) : undefined;
  };
  return {
    metadata: documents.get,
    resolve: async (vendor) => {
      const reading = metadataFor(vendor);
      const from = reading && (await reading);
      const known = resolved.get(vendor);
      if (known !== undefined && known.from === from) return known.vendor;
      const made = resolveWith(vendor, from ?? { advertisesIss: false }, modes);
      resolved.set(vendor, { from, vendor: made });
      return made;
    },
  };
}

function needsDiscovery(vendor: Vendor): vendor is Vendor & { readonly issuer: string } {
  return (
    vendor.issuer !== undefined && (vendor.authorizationEndpoint === undefined || vendor.tokenEndpoint === undefined)
  );
}

/** @param ourModes the response modes that the callback takes */
function resolveWith(vendor: Vendor, metadata: VendorMetadata, ourModes: ReadonlySet<string>): ResolvedVendor {
  const { codeChallengeMethods, advertisesIss, tokenEndpointAuthMethods } = metadata;
  const authorizationEndpoint = vendor.authorizationEndpoint ?? metadata.authorizationEndpoint;
  const tokenEndpoint = vendor.tokenEndpoint ?? metadata.tokenEndpoint;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    throw invalidVendorResponse("discovery: authorization or token endpoint is missing");
  }
  //= rfc9700#4.8.2
  //= bar#VR-2
  if (vendor.pkce !== "none" && codeChallengeMethods !== undefined && !codeChallengeMethods.includes(vendor.pkce)) {
    throw new OAuthError("vendor_response_invalid", `The vendor's metadata does not offer PKCE with ${vendor.pkce}`, {
      reason: "pkce_not_supported",
      detail: `${vendor.id}: offers ${codeChallengeMethods.length} methods`,
    });
  }
  const endpoints = Object.fromEntries(METADATA_FIELDS.map((name) => [name, vendor[name] ?? metadata[name]]));
  const { serverUrl: _server, operatorsEndpoints: _own, ...rest } = vendor;
  const demands = demandsOf(vendor, metadata, ourModes);
  return {
    ...rest,
    ...defined(endpoints),
    authorizationEndpoint,
    tokenEndpoint,
    tokenEndpointAuthMethod: authMethod(vendor, tokenEndpointAuthMethods),
    ...(demands.length === 0 ? {} : { demands }),
    ...(ourModes.has("form_post") && hasFormPostOnly(vendor, metadata) ? { responseMode: "form_post" as const } : {}),
    //= rfc9207#2.4
    issExpected: vendor.issRequired ?? advertisesIss,
  };
}

/** Metadata that was not read demands nothing, and neither does one that leaves a field out. */
function demandsOf(vendor: Vendor, metadata: VendorMetadata, ourModes: ReadonlySet<string>): VendorDemand[] {
  const { authorizationParams, idTokenAlgs, jwksUri, responseType, statesAuthMethod } = vendor;
  const unmet: readonly (readonly [VendorDemand, boolean])[] = [
    ["response_type_not_supported", responseType === undefined && lacks(metadata.responseTypes, CODE)],
    [
      "response_mode_not_supported",
      authorizationParams["response_mode"] === undefined && lacks(metadata.responseModes, ourModes),
    ],
    [
      "client_authentication_not_supported",
      statesAuthMethod !== true && lacks(metadata.tokenEndpointAuthMethods, OUR_AUTH_METHODS),
    ],
    ["keys_not_published", jwksUri === undefined && metadata.lacksKeys === true],
    [
      "id_token_algs_not_supported",
      idTokenAlgs === DEFAULT_ID_TOKEN_ALGS && lacks(metadata.idTokenAlgs, new Set(idTokenAlgs)),
    ],
  ];
  return [...(metadata.requires ?? []), ...unmet.flatMap(([demand, isUnmet]) => (isUnmet ? [demand] : []))];
}

/** Whether what is offered is stated, and holds nothing that we take. */
function lacks(offered: readonly string[] = [], ours: ReadonlySet<string>): boolean {
  return offered.length > 0 && !offered.some((one) => ours.has(one));
}

const CODE: ReadonlySet<string> = new Set(["code"]);

const OUR_AUTH_METHODS: ReadonlySet<string> = new Set(FIELDS.tokenEndpointAuthMethod.values);

function hasFormPostOnly({ authorizationParams }: Vendor, { responseModes: modes = [] }: VendorMetadata): boolean {
  return authorizationParams["response_mode"] === undefined && modes.includes("form_post") && !modes.includes("query");
}

/**
 * Basic is the default of an entry: a vendor that supports only client_secret_post gets that
 * instead.
 */
function authMethod(
  { tokenEndpointAuthMethod: method, statesAuthMethod }: Vendor,
  supported: readonly string[] | undefined,
): TokenEndpointAuthMethod {
  if (statesAuthMethod === true) return method;
  if (method !== "client_secret_basic" || supported === undefined || supported.includes(method)) return method;
  return supported.includes("client_secret_post") ? "client_secret_post" : method;
}

const ENDPOINTS: ReadonlySet<string> = new Set(METADATA_FIELDS);

type IssuingVendor = Vendor & { readonly issuer: string };

/** Whether there is a document, which cannot be the one that the entry was made from. */
function contradicts(vendor: IssuingVendor, { extras: { reason } }: OAuthError): boolean {
  return reason === "issuer_mismatch" || (reason === "endpoint_forbidden" && isOfMcpServer(vendor));
}

/** A flow waits no longer than this for metadata; the endpoints are known without it. */
const ADVERTISED_TIMEOUT_MILLISECONDS = 2_000;
/** After a failure the issuer is not asked again, and no flow waits for it, for this long. */
const NEGATIVE_CACHE_SECONDS = 60;
const MAX_ISSUERS = 256;

/**
 * Metadata of a vendor whose endpoints its entry or the operator states: what it says about `iss`
 * and PKCE is used, but it is optional. The endpoints of an MCP server's entry are compared with it.
 *
 * @returns for a vendor, its metadata reduced to what applies beside stated endpoints, the same
 *   object while the document is the same; undefined when it is not available
 * @throws OAuthError vendor_response_invalid when the document names another issuer, or another
 *   endpoint of an MCP server: either the entry or the document is wrong
 */
function createAdvertised(
  documents: RefreshingCache<VendorMetadata>,
  deps: VendorClientDeps,
): (vendor: IssuingVendor) => Promise<VendorMetadata | undefined> {
  const { now, timer } = deps;
  const readLive = createLiveMetadata(deps);
  const unavailable = createExpiringMap<true>(MAX_ISSUERS, now);
  const cutOf = oncePerObject(({ tokenEndpointAuthMethods: _methods, ...document }: VendorMetadata): VendorMetadata => {
    const known = Object.entries(document).filter(([name]) => !ENDPOINTS.has(name));
    return Object.fromEntries(known) as unknown as VendorMetadata;
  });
  const deadline: Deadline = () => timer.timeout(ADVERTISED_TIMEOUT_MILLISECONDS);
  const read = async (vendor: IssuingVendor): Promise<VendorMetadata | undefined> => {
    const { issuer } = vendor;
    if (unavailable.get(issuer)) return undefined;
    try {
      return await (isOfMcpServer(vendor) ? readLive(vendor, deadline) : documents.get(issuer, deadline));
    } catch (error) {
      //= bar#DI-1
      if (!(error instanceof OAuthError) || contradicts(vendor, error)) throw error;
      unavailable.set(issuer, true, now() + NEGATIVE_CACHE_SECONDS);
      return undefined;
    }
  };

  return async (vendor) => {
    const document = await read(vendor);
    if (document === undefined) return undefined;
    if (isOfMcpServer(vendor)) requireStoredEndpoints(vendor, document);
    return cutOf(document);
  };
}

/**
 * An entry that states `iss` itself needs no metadata, unless it is to be compared, and an issuer
 * with a placeholder has no address to ask.
 */
function hasAdvertised(vendor: Vendor): vendor is IssuingVendor {
  const { issuer, issRequired, serverUrl } = vendor;
  return issuer !== undefined && !issuer.includes("{") && (issRequired === undefined || serverUrl !== undefined);
}
