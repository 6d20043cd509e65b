/**
 * What issued the token of a refresh, revoke, check or explain request. The caller names it by
 * `connection`, by a sealed refresh token, which has the connection inside, or by `vendor` (and the
 * parameters of BYOC and manual mode) if it kept only that. With a connection nothing is guessed;
 * with `vendor` the active credentials are used, if no other owner shares them. BYOC credentials
 * come with each call: the connection holds their client id, not the secret.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import type { VendorCredentials } from "@oauth-broker/oauth-core/registry";
import { canonicalJson } from "@oauth-broker/token-store";
import type { ClientConfig, VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import type { Trace } from "@oauth-broker/service/http";
import { type Connection, connectionOf, kidOf, notOurs, openConnection } from "./connection.ts";
import { type ChoiceDeps, trustedChoice, type VendorChoice } from "../vendor-choice/choose.ts";
import { findCredentials, requireActiveCredentials, requireUsable } from "../vendor-choice/entry.ts";
import { readSealedGrant, type SealedGrant } from "./sealed-refresh-token.ts";
import { type PresentedToken, requireItsToken } from "./token-binding.ts";
import {
  CUSTOM_VENDOR,
  ownCredentials,
  readOwnCredentials,
  readPlaceholders,
  readTarget,
  targetFields,
  type VendorTarget,
} from "../vendor-choice/request.ts";
import { idNamed } from "../vendor-choice/names.ts";
import { needsOwnerPage } from "../vendor-choice/registrations.ts";

export interface GrantContext extends VendorChoice {
  readonly connection: Connection;
  /** The connection as the caller sent it; absent when the caller named its origin in another way. */
  readonly presented: string | undefined;
}

interface GrantOptions {
  /** Must come from the same response as the connection, if owners share the vendor client. */
  readonly token?: PresentedToken | undefined;
  /** Names its origin itself. */
  readonly grant?: SealedGrant | undefined;
  /** `false`: the vendor is not called, so no secret is needed. */
  readonly asksVendor?: boolean;
}

/**
 * @throws OAuthError invalid_request, unauthorized_client, invalid_grant,
 *   vendor_credentials_rejected; 502/503 from discovery
 */
export async function readGrantContext(
  parameters: Parameters,
  client: ClientConfig,
  deps: ChoiceDeps & Pick<Deps, "now">,
  trace: Trace,
  { token, grant, asksVendor = true }: GrantOptions = {},
): Promise<GrantContext> {
  const origin = await readOrigin(parameters, grant, client, deps);
  const connection = origin?.connection;
  const own = readOwnCredentials(parameters);
  const target = connection === undefined ? readTarget(parameters) : sameTarget(connection, parameters, deps);
  const entry = requireUsable(target, client, deps);
  trace.vendor = entry?.vendor.id ?? target.vendor;
  const credentials =
    connection === undefined
      ? (own ?? requireActiveCredentials(entry, target.placeholders))
      : credentialsOf(connection, own, entry, { asksVendor });
  const asked = connection !== undefined && asksVendor ? withoutPage(target) : target;
  const choice = await trustedChoice(asked, entry, credentials, client, deps);
  if (connection !== undefined) requireSameEndpoints(connection, choice, parameters);
  if (token !== undefined && needsOwnerPage(choice, client, deps.registrations))
    await requireItsToken(origin, token, deps);
  trace.credentialsId = choice.credentials.id;
  return { ...choice, connection: connection ?? connectionOf(choice, undefined), presented: origin?.presented };
}

/** A connection that came with the request; `presented` as the parameter, not inside a refresh token. */
type Origin = Pick<SealedGrant, "connection" | "kid"> & { readonly presented?: string };

/** Wherever a connection is taken, the sealed refresh token of its answer may stand. */
async function readOrigin(
  parameters: Parameters,
  grant: SealedGrant | undefined,
  { clientId }: ClientConfig,
  deps: Pick<Deps, "keyset" | "now">,
): Promise<Origin | undefined> {
  const value = parameters.get("connection");
  let named: Origin | undefined;
  if (value !== undefined) {
    named = await readSealedGrant(value, clientId, deps, notOurs);
    named ??= { connection: await openConnection(value, clientId, deps), kid: kidOf(value), presented: value };
  }
  if (grant === undefined) return named;
  requireNothingElse(parameters);
  if (named === undefined || isSameOrigin(named.connection, grant.connection)) return grant;
  throw new OAuthError("invalid_request", "connection and refresh token name different connections");
}

/** A sealed refresh token goes only to what it was minted at. */
function requireNothingElse(parameters: Parameters): void {
  const others = ["vendor", "issuer", "authorization_endpoint", "token_endpoint", "placeholders"];
  const other = others.find((name) => parameters.has(name));
  if (other === undefined) return;
  throw new OAuthError("invalid_request", `${other} is not sent beside this token, which says what minted it`);
}

const ORIGIN = [
  "vendor",
  "placeholders",
  "issuer",
  "authorizationEndpoint",
  "tokenEndpoint",
  "credentialsId",
  "credentialsSource",
  "vendorClientId",
  "iss",
  "sub",
] as const satisfies readonly (keyof Connection)[];

/** Whether both name the same vendor, endpoints, credentials and account; not the same answer. */
function isSameOrigin(one: Connection, other: Connection): boolean {
  const [named, inside] = [one, other].map((connection) =>
    canonicalJson(ORIGIN.map((name) => connection[name] ?? null)),
  );
  return named === inside;
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
 * The page on which the user once consented matters no more: the vendor's own token endpoint stays
 * one beside a page that the client named.
 */
function withoutPage(target: VendorTarget): VendorTarget {
  if (target.vendor === CUSTOM_VENDOR || target.authorizationEndpoint === undefined) return target;
  const { authorizationEndpoint: _page, ...rest } = target;
  return rest;
}

/** As `sameTarget`. An endpoint that the connection does not name is the vendor's own. */
function requireSameEndpoints(connection: Connection, { vendor }: VendorChoice, parameters: Parameters): void {
  const known = {
    issuer: connection.issuer ?? vendor.issuer,
    authorization_endpoint: connection.authorizationEndpoint ?? vendor.authorizationEndpoint,
    token_endpoint: connection.tokenEndpoint ?? vendor.tokenEndpoint,
  };
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
  { credentialsId, credentialsSource, vendorClientId, hadSecret = false }: Connection,
  own: VendorCredentials | undefined,
  entry: VendorConfig | undefined,
  { asksVendor }: { readonly asksVendor: boolean },
): VendorCredentials {
  if (own !== undefined && (credentialsSource !== "byoc" || own.clientId !== vendorClientId)) {
    throw new OAuthError("invalid_request", "vendor_client_id is not the one of the connection");
  }
  if (credentialsSource !== "byoc") return findCredentials(entry, credentialsId, credentialsSource, vendorClientId);
  if (own?.clientSecret === undefined && hadSecret && asksVendor) {
    throw new OAuthError(
      "invalid_request",
      "This connection was made with credentials of your own: send vendor_client_id and vendor_client_secret again",
    );
  }
  return own ?? ownCredentials(vendorClientId ?? "", undefined);
}
