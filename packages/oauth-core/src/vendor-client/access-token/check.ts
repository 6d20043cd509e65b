/**
 * Whether the access token of a connection is still good. Asks the vendor in the first of its ways
 * whose host the connection pins: its own check or introspection, else the account. What the vendor
 * does not say is absent. Callers: `POST /v1/check` of the broker, `check` of a direct client.
 */
import { defined } from "../../mechanics/defined.ts";
import { OAuthError } from "../../protocol/errors.ts";
import type { ResolvedVendor, VendorCredentials } from "../../registry/vendor.ts";
import type { CallDeps } from "../binding.ts";
import { accountIdentity, hasAccountOfToken, lacksScopeForAccount, readAccount } from "../userinfo/userinfo.ts";
import { identityOf } from "../userinfo/identity.ts";
import { memberAt } from "../member-path.ts";
import { NO_INFORMATION, type TokenInformation } from "./introspect.ts";
import { usableLifetime } from "../token/response.ts";
import { type AskToken, BEARER_TOKEN, waysToAsk } from "./validate.ts";

/** A user of a vendor. */
export interface CheckedAccount {
  /** Absent if the vendor has no issuer, or one for each tenant. */
  readonly issuer?: string;
  readonly subject: string;
}

/** Which token is checked, and what is known about it. */
export interface CheckRequest {
  readonly accessToken: string;
  /** The scopes that the caller needs. */
  readonly scope?: readonly string[];
  /** Where the token may be sent: the hosts and check hosts that `keptOf` returned when it was issued. */
  readonly hosts: readonly string[];
  /** The account that the connection names: issuer and subject as in an ID token. */
  readonly account?: CheckedAccount;
}

/** What the vendor said about the token. */
export interface AccessTokenCheck {
  /** `null`: the vendor has no way to ask, or none at a host that the connection pins. */
  readonly active: boolean | null;
  readonly checkedBy: "introspection" | "userinfo" | "account" | "none";
  readonly scope?: readonly string[];
  /** Those of the needed scopes that `scope` lacks, by name; absent if it lacks none. */
  readonly missingScope?: readonly string[];
  readonly expiresInSeconds?: number;
  readonly account?: CheckedAccount;
}

interface Way extends AskToken {
  readonly checkedBy: Exclude<AccessTokenCheck["checkedBy"], "none">;
}

const UNKNOWN: AccessTokenCheck = { active: null, checkedBy: "none" };

/**
 * Whether the token of a connection is still good, as far as the vendor has a way to say so.
 *
 * @throws OAuthError invalid_request, also `client_mismatch` and `account_mismatch`;
 *   temporarily_unavailable; vendor_response_invalid; vendor_credentials_rejected
 */
export async function checkAccessToken(
  vendor: ResolvedVendor,
  credentials: VendorCredentials,
  request: CheckRequest,
  deps: CallDeps,
): Promise<AccessTokenCheck> {
  if (!BEARER_TOKEN.test(request.accessToken))
    throw new OAuthError("invalid_request", "access_token is not a token: it cannot be sent in a header");
  //= bar#BY-4
  const way = waysOf(vendor, credentials, request.accessToken, deps).find(({ endpoint }) =>
    request.hosts.includes(URL.parse(endpoint)?.host ?? ""),
  );
  if (way === undefined) return UNKNOWN;
  const { checkedBy } = way;
  const found = await way.ask(deps.deadline());
  if (found === undefined) return { active: false, checkedBy };
  // Some vendors without OpenID Connect answer a dead token with a 200 too, in their own words.
  if (checkedBy === "userinfo" && found.identity !== undefined && found.answer.sub === undefined) return UNKNOWN;
  if (found.clients.some((clientId) => clientId !== credentials.clientId)) {
    throw new OAuthError("invalid_request", "The vendor issued this token to another client", {
      reason: "client_mismatch",
    });
  }
  const account = accountOf(found, checkedBy, vendor, request.account);
  const left = found.expiresAt === undefined ? undefined : found.expiresAt - deps.now();
  if (left !== undefined && left <= 0) return { active: false, checkedBy };
  const expiresInSeconds = usableLifetime(left);
  return { active: true, checkedBy, ...scopeOf(found, request.scope), ...defined({ expiresInSeconds, account }) };
}

/** In this order: the first says most. */
function waysOf(
  vendor: ResolvedVendor,
  credentials: VendorCredentials,
  accessToken: string,
  deps: CallDeps,
): readonly Way[] {
  const ways: Way[] = waysToAsk(vendor, credentials, accessToken, deps).map((way) => ({
    ...way,
    checkedBy: "introspection",
  }));
  const endpoint = vendor.account?.endpoint ?? vendor.userinfoEndpoint;
  if (endpoint !== undefined && hasAccountOfToken(vendor)) {
    const checkedBy = vendor.account === undefined ? "userinfo" : "account";
    ways.push({ checkedBy, endpoint, ask: (signal) => askAccount(vendor, accessToken, deps, signal) });
  }
  return ways;
}

async function askAccount(
  vendor: ResolvedVendor,
  accessToken: string,
  deps: CallDeps,
  signal: AbortSignal,
): Promise<TokenInformation | undefined> {
  try {
    const found = await readAccount(vendor, { accessToken, acceptsOwnNames: true }, deps, signal);
    if (found === undefined) return undefined;
    return { ...NO_INFORMATION, answer: found.account, identity: accountIdentity(vendor), scope: found.scope };
  } catch (error) {
    //= rfc6750#3.1
    if (lacksScopeForAccount(error)) return NO_INFORMATION;
    throw error;
  }
}

/**
 * A subject is compared with the connection's if both have it from OpenID Connect, or both from the
 * entry's own endpoint, which names no issuer: each has other names for users.
 *
 * @throws OAuthError invalid_request, `account_mismatch`; vendor_response_invalid,
 *   `identity_missing`, when an account endpoint names no user
 */
function accountOf(
  { answer, identity }: TokenInformation,
  checkedBy: Way["checkedBy"],
  vendor: ResolvedVendor,
  known: CheckedAccount | undefined,
): CheckedAccount | undefined {
  if (identity === undefined) return undefined;
  const requireKnown = (subject: string): CheckedAccount => {
    if (known === undefined) {
      const { issuer, issuerTemplate } = vendor;
      return { subject, ...(issuerTemplate === undefined ? defined({ issuer }) : {}) };
    }
    //= bar#UI-1
    if (known.subject === subject) return known;
    throw new OAuthError("invalid_request", "The vendor names another account than the connection", {
      reason: "account_mismatch",
    });
  };
  if (identity.length === 1 && identity[0] === "sub") {
    const { sub } = answer;
    return typeof sub === "string" && sub !== "" ? requireKnown(sub) : undefined;
  }
  // The same operator's entry named the connection's account too, unless the token response did.
  const isSameNaming = checkedBy === "account" && known?.issuer === undefined && typeof vendor.identity !== "object";
  if (known !== undefined && !isSameNaming) return undefined;
  const isNamed = checkedBy === "account" || identity.every((path) => memberAt(answer, path) !== undefined);
  return isNamed ? requireKnown(identityOf(answer, identity)) : undefined;
}

/** An empty list is of a token whose rights are not scopes as often as of one without any. */
function scopeOf(
  { scope = [] }: TokenInformation,
  needed: readonly string[] = [],
): Pick<AccessTokenCheck, "scope" | "missingScope"> {
  if (scope.length === 0) return {};
  // Both lists are as long as their senders like.
  const granted = new Set(scope);
  const missingScope = needed.filter((one) => !granted.has(one));
  return { scope, ...(missingScope.length === 0 ? {} : { missingScope }) };
}
