/** The standard's way to ask whether a token is good. Called by judge-token.ts. */
import { customFetch, introspectionRequest, processIntrospectionResponse } from "oauth4webapi";
import type { JsonObject } from "../../ports.ts";
import type { IdentityMembers } from "../../vendors/account.ts";
import type { ResolvedVendor, Vendor, VendorCredentials } from "../../vendors/vendor.ts";
import type { AccountDeps } from "../userinfo/userinfo.ts";
import { pointInTime, scopeList } from "../token/response.ts";
import type { TokenStatement } from "./verdict.ts";
import { readObject, requireAnswer } from "../answer.ts";
import { translateVendorError, type VendorCall, vendorRefusal, vendorRefusedClient } from "../errors.ts";

export type Introspectable = ResolvedVendor & { readonly introspectionEndpoint: string };

/** An asker has to prove itself, so that nobody tries tokens out there. */
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

/** What servers answer to a text of another shape than their tokens have, where the standard wants `active: false`. */
const NO_TOKEN_OF_ITS: ReadonlySet<string> = new Set(["unsupported_token_type", "invalid_token"]);

/**
 * @returns undefined for a token that is not good here: not active, not yet, or bound to a key that a Bearer token has not
 * @throws OAuthError temporarily_unavailable, vendor_response_invalid, vendor_credentials_rejected
 */
export async function introspect(
  vendor: Introspectable,
  credentials: VendorCredentials,
  accessToken: string,
  { bindings, fetch, now }: AccountDeps,
  signal: AbortSignal,
): Promise<TokenStatement | undefined> {
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
    const { status } = response;
    //= rfc7662#2.2
    const { active } = await processIntrospectionResponse(
      introspecting,
      client,
      NativeResponse.json(answer, { status }),
    );
    return active && isUsable(answer, now) ? statement(answer, vendor) : undefined;
  } catch (error) {
    throw translateVendorError(error, call);
  }
}

/** As in egress-web.ts: Node's own, not the lazy one of the listener. */
const NativeResponse = globalThis.Response;

function isUsable({ nbf, token_type: type, cnf }: JsonObject, now: AccountDeps["now"]): boolean {
  const from = pointInTime(nbf, "seconds");
  const isBearer = type === undefined || type === null || (typeof type === "string" && /^bearer$/i.test(type));
  return isBearer && (cnf === undefined || cnf === null) && (from === undefined || from <= now());
}

function statement(answer: JsonObject, vendor: Introspectable): TokenStatement {
  const { client_id: clientId, exp, scope } = answer;
  const expiresAt = pointInTime(exp, "seconds");
  return {
    answer,
    identity: introspectedIdentity(vendor),
    // Servers introspect refresh tokens too, and only of access tokens do they tell a type.
    isDoubtful: typeof answer.token_type !== "string",
    clients: typeof clientId === "string" ? [clientId] : [],
    scope: scopeList(scope, " "),
    expiresAt: expiresAt === undefined ? undefined : Math.floor(expiresAt),
  };
}
