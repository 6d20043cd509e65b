/**
 * POST /v1/explain: as /v1/par, but nothing is stored and nobody is sent anywhere. Shows what the broker would do:
 * the resolved endpoints, the redirect URI to register at the vendor, each parameter and where it came from.
 */
import {
  type Parameters,
  refuseWhatNoPushedRequestMayHold,
  requireS256Challenge,
  type ResolvedVendor,
  verifyRedirectUri,
} from "@oauth-broker/oauth-core";
import type { ClientConfig } from "../config.ts";
import type { Deps, Trace } from "../deps.ts";
import { isIdTokenDue } from "./flow-secrets.ts";
import { readGrantContext } from "./grant-context.ts";
import { type AuthorizationWishes, chooseVendor, readWishes, type VendorChoice } from "./vendor-choice.ts";

type Source = "vendor" | "request" | "broker" | "configuration" | "connection";

interface Explained {
  readonly value: string;
  readonly source: Source;
}

/** @throws OAuthError where /v1/par would, except that what only a flow needs may be left out */
export async function explain(
  parameters: Parameters,
  client: ClientConfig,
  deps: Deps,
  trace: Trace,
): Promise<Record<string, unknown>> {
  refuseWhatNoPushedRequestMayHold(parameters);
  const redirectUri = parameters.get("redirect_uri");
  if (redirectUri !== undefined) verifyRedirectUri(redirectUri, client.redirectUris);
  if (parameters.has("code_challenge") || parameters.has("code_challenge_method")) {
    requireS256Challenge(parameters.get("code_challenge"), parameters.get("code_challenge_method"));
  }
  const byConnection = parameters.has("connection");
  const choice = byConnection
    ? await readGrantContext(parameters, client, deps, trace)
    : await chooseVendor(parameters, client, deps);
  const { vendor, credentials } = choice;
  trace.vendor = vendor.id;
  const wishes = readWishes(parameters, vendor);
  const callback = `${deps.issuer}/v1/callback`;
  return {
    vendor: vendor.id,
    name: vendor.name,
    tier: 1,
    redirect_uri: callback,
    endpoints: endpointsOf(vendor),
    credentials: {
      source: credentials.source,
      id: credentials.id,
      vendor_client_id: credentials.clientId,
      client_secret: credentials.clientSecret === undefined ? "none" : "[secret]",
    },
    token_request: {
      client_authentication: vendor.tokenEndpointAuthMethod,
      body: vendor.tokenRequestBody,
      redeem_at: vendor.redeemAt,
    },
    callback: { iss_required: vendor.issExpected, passed_on: vendor.callbackParams },
    authorization_parameters: authorizationParameters(
      parameters,
      { vendor, credentials, redirectUri: callback },
      wishes,
    ),
  };
}

function endpointsOf(vendor: ResolvedVendor): Record<string, string | null> {
  return {
    issuer: vendor.issuer ?? null,
    authorization_endpoint: vendor.authorizationEndpoint,
    token_endpoint: vendor.tokenEndpoint,
    refresh_endpoint: vendor.refreshEndpoint ?? null,
    revocation_endpoint: vendor.revocationEndpoint ?? null,
    jwks_uri: vendor.jwksUri ?? null,
  };
}

function authorizationParameters(
  parameters: Parameters,
  { vendor, credentials, redirectUri }: Pick<VendorChoice, "vendor" | "credentials" | "redirectUri">,
  wishes: AuthorizationWishes,
): Record<string, Explained> {
  const made = (value: string): Explained => ({ value, source: "broker" });
  const asked = (name: string, value: string | undefined): Record<string, Explained> =>
    value === undefined ? {} : { [name]: { value, source: "request" } };
  const fixed = (values: Readonly<Record<string, string>>, source: Source): Record<string, Explained> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, source }]));
  const scope: Explained = {
    value: wishes.scope.join(vendor.scopeSeparator),
    source: parameters.has("scope") ? "request" : "vendor",
  };
  return {
    ...fixed(vendor.authorizationParams, "vendor"),
    ...fixed(wishes.vendorParams ?? {}, "request"),
    response_type: made("code"),
    client_id: { value: credentials.clientId, source: "configuration" },
    redirect_uri: made(redirectUri),
    ...(wishes.scope.length === 0 ? {} : { scope }),
    ...asked("login_hint", wishes.loginHint),
    ...asked("prompt", wishes.prompt),
    ...asked("resource", wishes.resource),
    state: made("[made per flow]"),
    ...(vendor.pkce === "none"
      ? {}
      : { code_challenge: made("[made per flow]"), code_challenge_method: made(vendor.pkce) }),
    ...(isIdTokenDue(vendor, wishes.scope) ? { nonce: made("[made per flow]") } : {}),
  };
}
