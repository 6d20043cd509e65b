/**
 * What issued the token of a refresh, revoke, check or explain request. The caller names it by
 * `connection`, or by `vendor` (and the parameters of BYOC and manual mode) if it kept only that.
 * With `connection` nothing is guessed; with `vendor` the active credentials are used. BYOC
 * credentials come with each call: the connection holds their client id, not the secret.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import type { VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { ClientConfig, VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import type { Trace } from "@oauth-broker/oauth-core/service";
import { type Connection, connectionOf, openConnection } from "./connection.ts";
import { type ChoiceDeps, trustedChoice, type VendorChoice } from "../vendor/choose.ts";
import { findCredentials, requireActiveCredentials, requireUsable } from "../vendor/entry.ts";
import {
  CUSTOM_VENDOR,
  idNamed,
  ownCredentials,
  readOwnCredentials,
  readPlaceholders,
  readTarget,
  targetFields,
  type VendorTarget,
} from "../vendor/request.ts";

export interface GrantContext extends VendorChoice {
  readonly connection: Connection;
  /** The connection as the caller sent it; absent when the caller named only the vendor. */
  readonly presented: string | undefined;
}

/**
 * @param options.asksVendor `false`: the vendor is not called, so no secret is needed
 * @throws OAuthError invalid_request, unauthorized_client, invalid_grant,
 *   vendor_credentials_rejected; 502/503 from discovery
 */
export async function readGrantContext(
  parameters: Parameters,
  client: ClientConfig,
  deps: ChoiceDeps & Pick<Deps, "now">,
  trace: Trace,
  { asksVendor }: { readonly asksVendor: boolean } = { asksVendor: true },
): Promise<GrantContext> {
  const presented = parameters.get("connection");
  const own = readOwnCredentials(parameters);
  const connection = presented === undefined ? undefined : await openConnection(presented, client.clientId, deps);
  const target = connection === undefined ? readTarget(parameters) : sameTarget(connection, parameters, deps);
  const entry = requireUsable(target, client, deps);
  trace.vendor = entry?.vendor.id ?? target.vendor;
  const credentials =
    connection === undefined
      ? (own ?? requireActiveCredentials(entry))
      : credentialsOf(connection, own, entry, { asksVendor });
  const asked = connection !== undefined && asksVendor ? withoutPage(target) : target;
  const choice = await trustedChoice(asked, entry, credentials, client, deps);
  if (connection !== undefined) requireSameEndpoints(connection, choice, parameters);
  trace.credentialsId = choice.credentials.id;
  return { ...choice, connection: connection ?? connectionOf(choice, undefined), presented };
}

/**
 * Parameters beside a connection must agree with it: the broker does not choose between the two.
 */
function sameTarget(
  connection: Connection,
  parameters: Parameters,
  { vendors }: Pick<ChoiceDeps, "vendors">,
): VendorTarget {
  const { vendor, placeholders = {} } = connection;
  if (vendor !== idNamed(parameters.get("vendor") ?? vendor, vendors)) {
    throw new OAuthError("invalid_request", "vendor and connection name different vendors");
  }
  for (const [name, value] of Object.entries(readPlaceholders(parameters) ?? {})) {
    if (!Object.hasOwn(placeholders, name) || placeholders[name] !== value) {
      throw new OAuthError("invalid_request", "placeholders and connection differ");
    }
  }
  return { vendor, ...targetFields(connection) };
}

/**
 * The page where the user once consented matters no more: the vendor's own token endpoint stays one
 * beside a page that the client named.
 */
function withoutPage(target: VendorTarget): VendorTarget {
  if (target.vendor === CUSTOM_VENDOR) return target;
  const { authorizationEndpoint: _page, ...rest } = target;
  return rest;
}

/** As `sameTarget`. An endpoint that the connection does not name is the vendor's own. */
function requireSameEndpoints(connection: Connection, { vendor }: VendorChoice, parameters: Parameters): void {
  const { issuer, authorizationEndpoint, tokenEndpoint } = { ...vendor, ...targetFields(connection) };
  const known = { issuer, authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint };
  for (const [name, value] of Object.entries(known)) {
    if (parameters.has(name) && parameters.get(name) !== value) {
      throw new OAuthError("unauthorized_client", `${name} is not the one of the connection`);
    }
  }
}

/**
 * The credentials the connection was made with: the operator's by their id, the client's own as
 * they come with this call.
 */
//= bar#BY-4
function credentialsOf(
  { credentialsId, credentialsSource, vendorClientId = "", hadSecret = false }: Connection,
  own: VendorCredentials | undefined,
  entry: VendorConfig | undefined,
  { asksVendor }: { readonly asksVendor: boolean },
): VendorCredentials {
  if (own !== undefined && (credentialsSource !== "byoc" || own.clientId !== vendorClientId)) {
    throw new OAuthError("invalid_request", "vendor_client_id is not the one of the connection");
  }
  if (credentialsSource !== "byoc") return findCredentials(entry, credentialsId, credentialsSource);
  if (own?.clientSecret === undefined && hadSecret && asksVendor) {
    throw new OAuthError(
      "invalid_request",
      "This connection was made with credentials of your own: send vendor_client_id and vendor_client_secret again",
    );
  }
  return own ?? ownCredentials(vendorClientId, undefined);
}
