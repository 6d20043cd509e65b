/**
 * The URL at the vendor that the user's browser is sent to. A pure function: verifier, nonce and
 * state come from the caller.
 */
import { OAuthError } from "../../protocol/errors.ts";
import { isReservedAuthorizationParameter, type ParameterNames } from "../../protocol/parameters.ts";
import { formatScope } from "../../protocol/scope.ts";
import type { ResolvedVendor } from "../../registry/vendor.ts";

/** The parameters of an authorization request to a vendor (RFC 6749 §4.1.1). */
export interface AuthorizationRequest {
  /** Our client id at the vendor. */
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly scope: readonly string[];
  /** Required unless the vendor's `pkce` is `none`. For `plain` it is the verifier. */
  readonly codeChallenge?: string;
  readonly nonce?: string;
  readonly loginHint?: string;
  readonly prompt?: string;
  readonly resource?: string;
  /** Further parameters of the caller; they override the vendor's fixed ones, never ours. */
  readonly extra?: Readonly<Record<string, string>>;
}

/**
 * @returns the vendor's endpoint with every parameter exactly once; empty ones are left out
 * @throws OAuthError invalid_request when `extra` names a parameter that is ours; server_error when
 *   a required challenge is missing
 */
export function authorizationUrl(vendor: ResolvedVendor, request: AuthorizationRequest): string {
  const { authorizationEndpoint, pkce } = vendor;
  const questionMark = authorizationEndpoint.indexOf("?");
  const base = questionMark < 0 ? authorizationEndpoint : authorizationEndpoint.slice(0, questionMark);
  //= bar#ST-4
  const parameters = new Map<string, string>();
  if (questionMark >= 0) {
    addFixed(parameters, new URLSearchParams(authorizationEndpoint.slice(questionMark + 1)), vendor, OF_ENDPOINTS);
  }
  addFixed(parameters, Object.entries(vendor.authorizationParams), vendor, OF_ENTRIES);
  const names = namesOf(vendor);
  addExtra(parameters, request.extra, vendor);
  add(parameters, "login_hint", request.loginHint);
  add(parameters, "prompt", request.prompt);
  add(parameters, "resource", askedResource(vendor, request.resource));
  //= rfc6749#4.1.1
  add(parameters, "response_type", vendor.responseType ?? "code");
  // Chosen by its metadata: an entry that states one has a fixed parameter.
  add(parameters, "response_mode", vendor.responseMode);
  add(parameters, "client_id", request.clientId);
  add(parameters, "redirect_uri", vendor.redirectUriAlias ?? request.redirectUri);
  add(parameters, vendor.scopeParameter, formatScope(askedScope(vendor, request.scope), vendor.scopeSeparator));
  add(parameters, "state", request.state);
  add(parameters, "nonce", request.nonce);
  //= rfc7636#4.3
  //= bar#VR-1
  if (pkce !== "none") {
    if (request.codeChallenge === undefined) {
      throw new OAuthError("server_error", "Something went wrong on our side", {
        detail: `${vendor.id}: no code_challenge`,
      });
    }
    add(parameters, "code_challenge", request.codeChallenge);
    add(parameters, "code_challenge_method", pkce);
  }
  let separator = "?";
  let url = base;
  for (const [standard, value] of parameters) {
    const name = parameterName(names, standard);
    if (name === "") continue;
    // %20, not `+`: every server reads %20.
    url += `${separator}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
    separator = "&";
  }
  return url;
}

/** @returns the vendor's name for a parameter of the authorization request; empty when it takes none */
export function authorizationParameterName(
  vendor: Pick<ResolvedVendor, "parameterNames" | "authorizationParameterNames">,
  standard: string,
): string {
  return parameterName(namesOf(vendor), standard);
}

/** @returns the vendor's names of parameters in the authorization request */
function namesOf(
  vendor: Pick<ResolvedVendor, "parameterNames" | "authorizationParameterNames">,
): Pick<ResolvedVendor, "parameterNames"> {
  const { parameterNames, authorizationParameterNames: own } = vendor;
  return own === undefined ? vendor : { parameterNames: { ...parameterNames, ...own } };
}

/** @returns `scope`, followed by what the vendor additionally requires for a refresh token */
export function askedScope(
  { offlineScopes }: Pick<ResolvedVendor, "offlineScopes">,
  scope: readonly string[],
): readonly string[] {
  return [...scope, ...offlineScopes.filter((offline) => !scope.includes(offline))];
}

/** @returns the resource for both legs; undefined when the vendor takes none */
//= rfc8707#2
export function askedResource(
  { resource, defaultResource }: Pick<ResolvedVendor, "resource" | "defaultResource">,
  requested: string | undefined,
): string | undefined {
  return resource === "omit" ? undefined : (requested ?? defaultResource);
}

/** @returns the vendor's name for a parameter; empty when it takes no such parameter */
export function parameterName({ parameterNames }: Pick<ResolvedVendor, "parameterNames">, standard: string): string {
  return (Object.hasOwn(parameterNames, standard) ? parameterNames[standard] : undefined) ?? standard;
}

function add(parameters: Map<string, string>, name: string, value: string | undefined): void {
  if (value !== undefined && value !== "") parameters.set(name, value);
}

/**
 * What an entry may fix. A `request` is never ours, and one vendor's page is chosen by it; in the
 * query of an endpoint, which a caller or metadata can name, it would replace all parameters.
 */
const OF_ENTRIES: ReadonlySet<string> = new Set(["response_mode", "request"]);
const OF_ENDPOINTS: ReadonlySet<string> = new Set(["response_mode"]);

/**
 * The vendor's fixed parameters. They may choose the response mode and nothing else that is ours,
 * under the standard's name or the vendor's.
 */
function addFixed(
  parameters: Map<string, string>,
  fixed: Iterable<readonly [string, string]>,
  vendor: ParameterNames,
  allowed: ReadonlySet<string>,
): void {
  for (const [name, value] of fixed) {
    if (allowed.has(name) || !isReservedAuthorizationParameter(name, vendor)) add(parameters, name, value);
  }
}

/** @returns whether the query of an authorization endpoint names a parameter that only we set */
export function namesReservedParameter(authorizationEndpoint: string, vendor: ParameterNames): boolean {
  const names = [...new URL(authorizationEndpoint).searchParams.keys()];
  return names.some((name) => !OF_ENDPOINTS.has(name) && isReservedAuthorizationParameter(name, vendor));
}

function addExtra(
  parameters: Map<string, string>,
  extra: AuthorizationRequest["extra"],
  vendor: Pick<ResolvedVendor, "parameterNames" | "authorizationParameterNames">,
): void {
  for (const [name, value] of Object.entries(extra ?? {})) {
    //= bar#ST-4
    if (isReservedAuthorizationParameter(name, vendor)) {
      throw new OAuthError("invalid_request", "a further authorization parameter has a reserved name");
    }
    add(parameters, name, value);
  }
}
