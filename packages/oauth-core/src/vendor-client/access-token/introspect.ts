/**
 * What a vendor reports about an access token, and whether the token was issued to our client. RFC
 * 7662 introspection is asked here; a vendor's own check is token-check.ts.
 */
import type { Clock, EpochSeconds, JsonObject } from "../../ports.ts";
import type { IdentityMembers } from "../../registry/account.ts";
import type { ResolvedVendor, Vendor, VendorCredentials } from "../../registry/vendor.ts";
import { knownScope, pointInTime } from "../token/response.ts";
import { readObject, requireAnswer } from "../answer.ts";
import type { CallDeps } from "../binding.ts";
import { isIssuer } from "../issuer.ts";
import {
  foldCode,
  invalidVendorResponse,
  saidBy,
  translateVendorError,
  vendorCall,
  vendorRefusal,
  vendorRefusedClient,
} from "../errors.ts";

/** What a vendor reports about a valid token. */
export interface TokenInformation {
  readonly answer: JsonObject;
  /** Members of `answer` that form the identity; undefined when the answer never names it. */
  readonly identity: IdentityMembers | undefined;
  /**
   * The answer may describe a token of another kind, so the account endpoint has to accept this one
   * too.
   */
  readonly isOfUnknownType: boolean;
  /** As the vendor names them; all equal when the token is for one client. */
  readonly clients: readonly string[];
  readonly scope: readonly string[] | undefined;
  readonly expiresAt: EpochSeconds | undefined;
  /** `false`: not valid yet, or bound to a key, which a Bearer token cannot prove. */
  readonly isUsable: boolean;
}

/** The result for a token whose account alone is asked. */
export const NO_INFORMATION: TokenInformation = {
  answer: {},
  identity: undefined,
  isOfUnknownType: false,
  clients: [],
  scope: undefined,
  expiresAt: undefined,
  isUsable: true,
};

/**
 * A token that another app obtained for the same user is not valid here: the owner of that app
 * could act here as its users. A token for which the vendor names no client may be such a token.
 *
 * @param clients as the vendor names them; empty when it names none
 * @param credentials absent: no client is expected
 */
export function isIssuedTo(clients: readonly string[], credentials: VendorCredentials | undefined): boolean {
  if (credentials === undefined) return true;
  return clients.length > 0 && clients.every((client) => client === credentials.clientId);
}

export type Introspectable = ResolvedVendor & { readonly introspectionEndpoint: string };

/** The caller has to authenticate, so that unauthenticated callers cannot try tokens. */
//= rfc7662#2.1
export function isIntrospectable(
  vendor: ResolvedVendor,
  credentials: VendorCredentials | undefined,
): vendor is Introspectable {
  const { clientSecret, signingKey, certificate } = credentials ?? {};
  const proof = clientSecret ?? signingKey ?? certificate;
  return vendor.introspectionEndpoint !== undefined && proof !== undefined;
}

/** An entry with `account` or `identity` uses other members than `sub`. */
export function introspectedIdentity({ account, identity }: Vendor): IdentityMembers | undefined {
  return account === undefined && identity === undefined ? ["sub"] : undefined;
}

/**
 * Errors that servers return for a text that is not in their token format, although the standard
 * requires `active: false`.
 */
const FOREIGN_TOKEN_ERRORS: ReadonlySet<string> = new Set(["unsupported_token_type", "invalid_token"]);

/**
 * @returns undefined for a token that is not active
 * @throws OAuthError temporarily_unavailable, vendor_response_invalid, vendor_credentials_rejected
 */
export async function introspect(
  vendor: Introspectable,
  credentials: VendorCredentials,
  accessToken: string,
  { bindings, now }: CallDeps,
  signal: AbortSignal,
): Promise<TokenInformation | undefined> {
  const call = vendorCall("introspection", vendor, credentials);
  const parameters = { token_type_hint: "access_token", token: accessToken };
  try {
    const endpoint = vendor.introspectionEndpoint;
    const response = await bindings.postForm({
      vendor,
      credentials,
      endpoint,
      to: "introspection",
      parameters,
      signal,
    });
    requireAnswer(response, call, now);
    const answer = await readObject(response, call).catch((error: unknown) => {
      throw response.status === 401 ? vendorRefusedClient(call) : error;
    });
    if (typeof answer.error === "string" && answer.error !== "") {
      if (FOREIGN_TOKEN_ERRORS.has(foldCode(answer.error))) return undefined;
      throw vendorRefusal(answer.error, call, saidBy(response, answer, now));
    }
    if (response.status === 401) throw vendorRefusedClient(call);
    const { active } = answer;
    //= rfc7662#2.2
    if (response.status !== 200 || typeof active !== "boolean")
      throw invalidVendorResponse(`introspection: status ${response.status}, and active is not stated`);
    return active ? information(answer, vendor, now) : undefined;
  } catch (error) {
    throw translateVendorError(error, call);
  }
}

function isUsable({ nbf, token_type: type, cnf }: JsonObject, now: Clock): boolean {
  const from = pointInTime(nbf, "seconds");
  const isBearer = type === undefined || type === null || (typeof type === "string" && /^bearer$/i.test(type));
  return isBearer && (cnf === undefined || cnf === null) && (from === undefined || from <= now());
}

/** A subject is a user of the issuer that the answer names: one endpoint may answer for several issuers. */
//= rfc7519#4.1.2
function isOfAnotherIssuer({ iss }: JsonObject, vendor: Introspectable): boolean {
  const { issuer } = vendor;
  if (issuer === undefined || iss === undefined || iss === null) return false;
  return typeof iss !== "string" || !isIssuer({ ...vendor, issuer }, iss);
}

function information(answer: JsonObject, vendor: Introspectable, now: Clock): TokenInformation {
  const { client_id: clientId, exp, scope } = answer;
  const expiresAt = pointInTime(exp, "seconds");
  return {
    answer,
    identity: isOfAnotherIssuer(answer, vendor) ? undefined : introspectedIdentity(vendor),
    // Servers also introspect refresh tokens, and report a type only for access tokens.
    isOfUnknownType: typeof answer.token_type !== "string",
    clients: typeof clientId === "string" ? [clientId] : [],
    scope: knownScope(scope, " "),
    expiresAt: expiresAt === undefined ? undefined : Math.floor(expiresAt),
    isUsable: isUsable(answer, now),
  };
}
