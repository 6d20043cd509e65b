/**
 * What a vendor says about an access token, and whether the token was issued to our client. RFC
 * 7662 introspection is asked here; a vendor's own check is token-check.ts.
 */
import { customFetch, introspectionRequest, processIntrospectionResponse } from "oauth4webapi";
import type { EpochSeconds, JsonObject } from "../../ports.ts";
import type { IdentityMembers } from "../../vendors/account.ts";
import type { ResolvedVendor, Vendor, VendorCredentials } from "../../vendors/vendor.ts";
import type { AccountDeps } from "../userinfo/userinfo.ts";
import { pointInTime, scopeList } from "../token/response.ts";
import { jsonResponse, readObject, requireAnswer } from "../answer.ts";
import { translateVendorError, type VendorCall, vendorRefusal, vendorRefusedClient } from "../errors.ts";

/** Of a token that the vendor calls good. */
export interface TokenInformation {
  readonly answer: JsonObject;
  /** Members of `answer` that are the identity; undefined where it never names it. */
  readonly identity: IdentityMembers | undefined;
  /** It may be about a token of another kind, so the account has to know this one too. */
  readonly isOfUnknownType: boolean;
  /** As the vendor names them, all of them the same if it is for one. */
  readonly clients: readonly string[];
  readonly scope: readonly string[] | undefined;
  readonly expiresAt: EpochSeconds | undefined;
}

/**
 * A token that another app got for the same person is no token for us: the owner of that app could
 * act here as its users. A token of which the vendor names no client may be one of them.
 *
 * @param clients as the vendor names them; none where it names none
 * @param credentials absent: no client is expected
 */
export function isIssuedTo(clients: readonly string[], credentials: VendorCredentials | undefined): boolean {
  if (credentials === undefined) return true;
  return clients.length > 0 && clients.every((client) => client === credentials.clientId);
}

export type Introspectable = ResolvedVendor & { readonly introspectionEndpoint: string };

/** The caller has to authenticate, so that no stranger tries tokens out there. */
//= rfc7662#2.1
export function isIntrospectable(
  vendor: ResolvedVendor,
  credentials: VendorCredentials | undefined,
): vendor is Introspectable {
  const { clientSecret, signingKey, certificate } = credentials ?? {};
  const proof = clientSecret ?? signingKey ?? certificate;
  return vendor.introspectionEndpoint !== undefined && proof !== undefined;
}

/** An account or an identity of the entry's own has other words than `sub`. */
export function introspectedIdentity({ account, identity }: Vendor): IdentityMembers | undefined {
  return account === undefined && identity === undefined ? ["sub"] : undefined;
}

/**
 * What servers answer to a text of another shape than their tokens have, where the standard wants
 * `active: false`.
 */
const NO_TOKEN_OF_ITS: ReadonlySet<string> = new Set(["unsupported_token_type", "invalid_token"]);

/**
 * @returns undefined for a token that is not good here: not active, not yet, or bound to a key that
 *   a Bearer token has not
 * @throws OAuthError temporarily_unavailable, vendor_response_invalid, vendor_credentials_rejected
 */
export async function introspect(
  vendor: Introspectable,
  credentials: VendorCredentials,
  accessToken: string,
  { bindings, fetch, now }: AccountDeps,
  signal: AbortSignal,
): Promise<TokenInformation | undefined> {
  const call: VendorCall = {
    what: "introspection",
    spends: false,
    credentialsSource: credentials.source,
    errors: vendor.tokenErrors,
  };
  const { introspectionEndpoint } = vendor;
  const { server, options } = bindings.ofVendor(vendor);
  const { client, authenticate } = bindings.ofCredentials(credentials);
  const introspecting = { ...server, introspection_endpoint: introspectionEndpoint };
  try {
    const response = await introspectionRequest(introspecting, client, authenticate(vendor), accessToken, {
      ...options(introspectionEndpoint),
      // Whatever this vendor calls things at its token endpoint: this is another one.
      [customFetch]: (url, init) => fetch(url, init),
      signal,
      additionalParameters: { token_type_hint: "access_token" },
    });
    requireAnswer(response, call, now);
    const answer = await readObject(response, call).catch((error: unknown) => {
      throw response.status === 401 ? vendorRefusedClient(call) : error;
    });
    if (typeof answer.error === "string" && answer.error !== "") {
      if (NO_TOKEN_OF_ITS.has(answer.error)) return undefined;
      throw vendorRefusal(answer.error, call);
    }
    if (response.status === 401) throw vendorRefusedClient(call);
    //= rfc7662#2.2
    const { active } = await processIntrospectionResponse(introspecting, client, jsonResponse(answer, response.status));
    return active && isUsable(answer, now) ? information(answer, vendor) : undefined;
  } catch (error) {
    throw translateVendorError(error, call);
  }
}

function isUsable({ nbf, token_type: type, cnf }: JsonObject, now: AccountDeps["now"]): boolean {
  const from = pointInTime(nbf, "seconds");
  const isBearer = type === undefined || type === null || (typeof type === "string" && /^bearer$/i.test(type));
  return isBearer && (cnf === undefined || cnf === null) && (from === undefined || from <= now());
}

function information(answer: JsonObject, vendor: Introspectable): TokenInformation {
  const { client_id: clientId, exp, scope } = answer;
  const expiresAt = pointInTime(exp, "seconds");
  return {
    answer,
    identity: introspectedIdentity(vendor),
    // Servers introspect refresh tokens too, and only of access tokens do they name a type.
    isOfUnknownType: typeof answer.token_type !== "string",
    clients: typeof clientId === "string" ? [clientId] : [],
    scope: scopeList(scope, " "),
    expiresAt: expiresAt === undefined ? undefined : Math.floor(expiresAt),
  };
}
