/**
 * POST /v1/explain: like /v1/par, but stores nothing and redirects no browser. Shows what the
 * broker would do: the resolved endpoints, the redirect URI to register at the vendor, and each
 * value with its source.
 */
import { defined } from "@oauth-broker/oauth-core";
import { authorizationParameterName, requireMetDemands } from "@oauth-broker/oauth-core/vendor-client";
import { type Parameters, requireS256Challenge } from "@oauth-broker/oauth-core/protocol";
import {
  addressOf,
  defineVendor,
  fieldOf,
  FIELDS,
  type FieldWhere,
  REGISTRY,
  type ResolvedVendor,
  usualClientsOf,
  type Vendor,
  type VendorCredentials,
  wireName,
} from "@oauth-broker/oauth-core/registry";
import { requireAllowedParameters, verifyRedirectUri } from "@oauth-broker/oauth-core/authorization-server";
import { isIdTokenDue } from "@oauth-broker/oauth-core/brokered-code";
import type { ClientConfig } from "../config.ts";
import type { Trace } from "@oauth-broker/service/http";
import type { Deps } from "../deps.ts";
import { type GrantContext, readGrantContext } from "../grants/grant-context.ts";
import { chooseVendor, type VendorChoice } from "../vendor-choice/choose.ts";
import { requireBrowserBinding } from "../vendor-choice/registrations.ts";
import type { CallersPart } from "../vendor-choice/callers-part.ts";
import {
  type AuthorizationParameters,
  parametersFor,
  readAskedParameters,
  readVendorRequest,
} from "../vendor-choice/request.ts";

interface Explained {
  readonly value: string;
  readonly source: Source | "vendor" | "broker";
}

/**
 * @throws OAuthError if /v1/par would, except that parameters only a flow needs may be left out
 */
export async function explain(
  parameters: Parameters,
  client: ClientConfig,
  deps: Deps,
  trace: Trace,
): Promise<Record<string, unknown>> {
  requireAllowedParameters(parameters);
  const redirectUri = parameters.get("redirect_uri");
  if (redirectUri !== undefined) verifyRedirectUri(redirectUri, client.redirectUris);
  if (parameters.has("code_challenge") || parameters.has("code_challenge_method")) {
    requireS256Challenge(parameters.get("code_challenge"), parameters.get("code_challenge_method"));
  }
  const byConnection = parameters.has("connection");
  const request = byConnection ? undefined : readVendorRequest(parameters);
  const choice: VendorChoice & Partial<Pick<GrantContext, "connection">> =
    request === undefined
      ? await readGrantContext(parameters, client, deps, trace, { asksVendor: false })
      : await chooseVendor(request, client, deps);
  if (!byConnection) requireBrowserBinding(choice, client, deps.registrations);
  const { vendor, credentials, tier, entry } = choice;
  trace.vendor = vendor.id;
  const manual = byConnection ? "connection" : "request";
  const asks = parametersFor(vendor, request?.asked ?? readAskedParameters(parameters));
  if (!byConnection) requireMetDemands(vendor, credentials, asks.scope);
  return {
    vendor: vendor.id,
    name: vendor.name,
    tier,
    ...(choice.callersPart === undefined ? {} : { tier_reason: TIER_REASONS[choice.callersPart] }),
    redirect_uri: choice.redirectUri,
    endpoints: endpointsOf(choice),
    placeholders: { ...choice.target.placeholders },
    ...(entry === undefined ? {} : { clients_of: entry.clientsOf ?? usualClientsOf(entry.vendor, entry.placeholders) }),
    ...accountOf(choice),
    ...dialectsOf(vendor),
    //= bar#BY-1
    credentials: {
      source: credentials.source,
      id: credentials.id,
      vendor_client_id: credentials.clientId,
      client_secret: secretOf(credentials),
    },
    token_request: {
      client_authentication: credentials.certificate === undefined ? vendor.tokenEndpointAuthMethod : "private_key_jwt",
      body: vendor.tokenRequestBody,
      redeem_at: vendor.redeemAt,
    },
    callback: { iss_required: vendor.issExpected, passed_on: vendor.callbackParams },
    authorization_parameters: authorizationParameters(parameters, choice, asks, credentialsSourceOf(choice, manual)),
    sources: sourcesOf(choice, manual),
  };
}

/** Why the flow has its own callback path. */
const TIER_REASONS = {
  vendor: "The request describes the vendor. The operator of the broker can write an entry for it, which is tier 1",
  placeholder: "A placeholder of this vendor can fill a whole domain",
  endpoint:
    "An endpoint of the request is not, character for character, the entry's own. The operator of the broker can write an entry with these endpoints, which is tier 1",
  metadata: "The issuer that the request fills names an endpoint at another domain in its metadata",
} as const satisfies Record<CallersPart, string>;

/** The account of a connection that names one. */
function accountOf({ connection }: Partial<Pick<GrantContext, "connection">>): Record<string, unknown> {
  if (connection?.sub === undefined) return {};
  return { account: { issuer: connection.iss ?? null, subject: connection.sub } };
}

/**
 * What names users and revokes tokens in the vendor's own way. Headers may hold an operator's key.
 */
function dialectsOf({ account, identity, revocation }: ResolvedVendor): Record<string, unknown> {
  return defined({
    vendor_account: account && {
      endpoint: account.endpoint,
      method: account.method,
      identity: account.identity ?? null,
    },
    vendor_identity: identity,
    vendor_revocation: revocation && { method: revocation.method, ends: revocation.ends },
  });
}

function secretOf({ clientSecret, signingKey, certificate }: VendorCredentials): string {
  if ((signingKey ?? certificate) !== undefined) return "[signed for each request]";
  return clientSecret === undefined ? "none" : "[secret]";
}

/** What the broker sets, under the standard's names. */
const OF_BROKER = ["response_type", "redirect_uri", "state", "nonce", "code_challenge", "code_challenge_method"];
const PER_FLOW = "[made per flow]";

/** Those of the URL that a flow would send the browser to. */
function authorizationParameters(
  parameters: Parameters,
  { vendor, credentials, redirectUri, vendorClient }: VendorChoice,
  asks: AuthorizationParameters,
  credentialsSource: Source,
): Record<string, Explained> {
  const { vendorParams: extra = {}, ...asked } = asks;
  const { scope, loginHint, prompt, resource } = asked;
  const perFlow = { state: PER_FLOW, codeChallenge: PER_FLOW, ...(isIdTokenDue(vendor, scope) && { nonce: PER_FLOW }) };
  const { clientId } = credentials;
  const url = vendorClient.authorizationUrl(vendor, { ...asked, ...perFlow, extra, clientId, redirectUri });
  const written = { login_hint: loginHint, prompt, resource, [vendor.scopeParameter]: parameters.get("scope") };
  const ofRequest = Object.keys({ ...extra, ...defined(written) });
  const sources = new Map<string, Explained["source"]>([
    ...OF_BROKER.map((name) => [name, "broker"] as const),
    ...(vendor.redirectUriAlias === undefined ? [] : [["redirect_uri", "vendor"] as const]),
    ["client_id", credentialsSource],
    ...ofRequest.map((name) => [name, "request"] as const),
  ]);
  const named = new Map(Array.from(sources, ([name, source]) => [authorizationParameterName(vendor, name), source]));
  return Object.fromEntries(
    Array.from(new URL(url).searchParams, ([name, value]) => [name, { value, source: named.get(name) ?? "vendor" }]),
  );
}

/**
 * `connection`: sealed in the connection, once part of a request. `default`: the broker's default,
 * set by neither the caller nor a file.
 */
type Source = "request" | "connection" | "configuration" | "environment" | "registry" | "discovery" | "default";

/** The source of the values that this request itself carries. */
type Manual = "request" | "connection";

type Field = FieldWhere<{ readonly explained: unknown }>;

const EXPLAINED = (Object.keys(FIELDS) as (keyof Vendor)[]).filter(
  (name): name is Field => fieldOf(name).explained !== undefined,
);
const ENDPOINTS = EXPLAINED.filter((name) => fieldOf(name).explained === "endpoint");

/** Its name among the sources. */
function sourceName(name: Field): string {
  const { explained } = fieldOf(name);
  return typeof explained === "object" ? explained.as : wireName(name);
}

function endpointsOf({ vendor }: Pick<VendorChoice, "vendor">): Record<string, string | null> {
  return Object.fromEntries(ENDPOINTS.map((field) => [wireName(field), addressOf(vendor, field) ?? null]));
}

function sourcesOf(choice: VendorChoice, manual: Manual): Record<string, Source> {
  const sources: Record<string, Source> = { vendor_client_id: credentialsSourceOf(choice, manual) };
  for (const field of EXPLAINED) {
    if (choice.vendor[field] !== undefined) sources[sourceName(field)] = sourceOf(field, choice, manual);
  }
  for (const [name, value] of Object.entries(choice.target.placeholders ?? {})) {
    const isDefault = choice.entry?.placeholders[name]?.default === value;
    sources[`placeholders.${name}`] = isDefault ? "default" : manual;
  }
  return sources;
}

function credentialsSourceOf({ credentials }: Pick<VendorChoice, "credentials">, manual: Manual): Source {
  if (credentials.source === "byoc") return manual;
  return credentials.source === "environment" ? "environment" : "configuration";
}

const DEFAULTS = defineVendor({ id: "default", name: "Default" });

function sourceOf(field: Field, { target, entry, vendor }: VendorChoice, manual: Manual): Source {
  const isNamed = field === "issuer" || field === "authorizationEndpoint" || field === "tokenEndpoint";
  if (isNamed && target[field] !== undefined) return manual;
  const written = entry?.vendor[field];
  const isTemplate = typeof written === "object" || written?.includes("{") === true;
  const isTaken = written !== undefined && (written === vendor[field] || isTemplate);
  if (isTaken && written === REGISTRY.get(entry?.vendor.id ?? "")?.vendor[field]) return "registry";
  if (vendor[field] === DEFAULTS[field]) return "default";
  return isTaken ? "configuration" : "discovery";
}
