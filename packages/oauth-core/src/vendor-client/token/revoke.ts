/**
 * Revokes a token at the vendor, by the standard's request or by the vendor's own. Also revokes
 * tokens that were issued and failed validation.
 */
import { defined } from "../../mechanics/defined.ts";
import type { JsonObject, Timer } from "../../ports.ts";
import { OAuthError, type OAuthErrorCode } from "../../protocol/errors.ts";
import type { MemberPath, RevocationDialect } from "../../registry/dialect.ts";
import type { ResolvedVendor, VendorCredentials } from "../../registry/vendor.ts";
import { basicCredentials } from "../authentication.ts";
import { readObject, requireAnswer } from "../answer.ts";
import { memberAt } from "../member-path.ts";
import type { CallDeps } from "../binding.ts";
import { ownRequest } from "../own-request.ts";
import {
  foldCode,
  invalidVendorResponse,
  meaningOf,
  saidBy,
  translateVendorError,
  type VendorCall,
  vendorCall,
  vendorRefusal,
  vendorRefusedClient,
} from "../errors.ts";
import { nestedCodes } from "./error-response.ts";

/** The parameters of a revocation (RFC 7009 §2.1). */
export interface RevokeRequest {
  readonly token: string;
  readonly tokenTypeHint?: "access_token" | "refresh_token";
}

/** The tokens of one grant, of which one is sent to end it. */
export interface GrantTokens {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
}

/** As far as an answer that is refused shows them. */
export type LostTokens = Partial<GrantTokens>;

/** `token`: this token ended; `grant`: its whole grant; `already`: the vendor does not know it. */
export type Revoked = "token" | "grant" | "already";

const HELP =
  "Open the account settings at the vendor, look under connected or authorized apps, and remove this app there";

/**
 * @throws OAuthError unsupported_token_type with `help` when the vendor has no way to revoke;
 *   temporarily_unavailable when it cannot now; vendor_credentials_rejected;
 *   vendor_response_invalid
 */
//= rfc7009#2.1
//= bar#RV-2
export async function revokeToken(
  vendor: ResolvedVendor,
  credentials: VendorCredentials,
  request: RevokeRequest,
  deps: CallDeps,
): Promise<Revoked> {
  const { revocationEndpoint } = vendor;
  const signal = deps.deadline();
  if (revocationEndpoint === undefined) throw noWay(vendor);
  requireRevocableType(vendor, request);
  const call = vendorCall("revocation", vendor, credentials);
  const { revocation: dialect } = vendor;
  const endpoint = revocationEndpoint.replace("{client_id}", encodeURIComponent(credentials.clientId));
  const { token, tokenTypeHint } = request;
  try {
    const parameters = { ...defined({ token_type_hint: tokenTypeHint }), token };
    const response =
      dialect === undefined
        ? await deps.bindings.postForm({ vendor, credentials, endpoint, to: "revocation", parameters, signal })
        : await requestByDialect(dialect, endpoint, credentials, token, signal, deps);
    if (dialect?.goneStatuses.includes(response.status) === true) return "already";
    const outcome = await readRevocation(response, vendor, call, deps);
    return outcome === "token" ? (dialect?.ends ?? outcome) : outcome;
  } catch (error) {
    throw translateVendorError(error, call);
  }
}

/** @returns the response to the vendor's own request, unread */
async function requestByDialect(
  dialect: RevocationDialect,
  endpoint: string,
  credentials: VendorCredentials,
  token: string,
  signal: AbortSignal,
  { fetch }: Pick<CallDeps, "fetch">,
): Promise<Response> {
  const { method, body: place, tokenParameter, parameters = {}, headers = {} } = dialect;
  const filled = (texts: Readonly<Record<string, string>>) => filledWith(token, credentials, texts);
  const sent = { ...filled(parameters), ...(place === "none" ? {} : { [tokenParameter]: token }) };
  const content = place === "json" ? { json: sent } : place === "form" ? { form: sent } : {};
  const query = place === "query" ? `${endpoint.includes("?") ? "&" : "?"}${new URLSearchParams(sent).toString()}` : "";
  const own = { ...filled(headers), ...authorization(dialect, credentials, token) };
  return fetch(`${endpoint}${query}`, { ...ownRequest(method, own, content), signal });
}

/** @returns the texts with `{token}`, `{client_id}` and `{client_secret}` in their values filled */
export function filledWith(
  token: string,
  { clientId, clientSecret }: VendorCredentials,
  texts: Readonly<Record<string, string>>,
): Record<string, string> {
  const values = new Map([
    ["{token}", token],
    ["{client_id}", clientId],
    ["{client_secret}", clientSecret?.reveal() ?? ""],
  ]);
  // Once: a token that looks like a name stays a token.
  const fill = (text: string): string => text.replace(/\{\w+\}/g, (name) => values.get(name) ?? name);
  return Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, fill(value)]));
}

function authorization(
  { authentication }: RevocationDialect,
  { clientId, clientSecret }: VendorCredentials,
  token: string,
): Record<string, string> {
  if (authentication === "none") return {};
  if (authentication === "bearer") return { authorization: `Bearer ${token}` };
  return { authorization: basicCredentials(clientId, clientSecret?.reveal() ?? "") };
}

/** Vendors that answer an unknown token with an error, although the standard requires a 200. */
//= rfc7009#2.2
const UNKNOWN_TOKEN: ReadonlySet<string> = new Set(["invalid_token", "token_not_found", "already_revoked"]);

async function readRevocation(
  response: Response,
  vendor: ResolvedVendor,
  call: VendorCall,
  { now }: CallDeps,
): Promise<Revoked> {
  requireAnswer(response, call, now);
  const { error, isFailure, members } = await readRefusal(response, call, vendor.revocation?.success);
  const codes = error === undefined ? nestedCodes(members) : [error];
  const said = saidBy(response, members, now);
  const means = (code: string): OAuthErrorCode | undefined =>
    //= rfc7009#2.2.1
    foldCode(code) === "unsupported_token_type" ? "unsupported_token_type" : meaningOf(code, call, said)?.code;
  const isGone = (code: string): boolean =>
    UNKNOWN_TOKEN.has(foldCode(code)) ||
    vendor.revocation?.goneErrors?.includes(code) === true ||
    means(code) === "invalid_grant";
  if (codes.some(isGone)) return "already";
  // A success may have a member of that name that says so: `error: { code: "ok" }`.
  const stated = error ?? codes.find((code) => means(code) !== undefined);
  if (stated !== undefined) {
    throw means(stated) === "unsupported_token_type" ? noWay(vendor, stated) : vendorRefusal(stated, call, said);
  }
  if (response.status === 401) throw vendorRefusedClient(call);
  if (response.status < 400 && !isFailure) return "token";
  throw invalidVendorResponse(`revocation: status ${response.status}, and nothing revoked`);
}

/** The body of a success is ignored, unless it says that nothing was revoked. */
async function readRefusal(
  response: Response,
  call: VendorCall,
  success: RevocationDialect["success"],
): Promise<{ readonly error?: string; readonly isFailure: boolean; readonly members: JsonObject }> {
  const members = await readObject(response, call).catch((): JsonObject => ({}));
  const { error, ok, revoked, success: isSuccess } = members;
  const isNoSuccess = success !== undefined && !success.values.includes(textAt(members, success.member));
  const isFailure = [ok, revoked, isSuccess].includes(false) || isNoSuccess;
  return { isFailure, members, ...(typeof error === "string" && error !== "" ? { error } : {}) };
}

/** A flag as its text. */
function textAt(members: JsonObject, path: MemberPath): string {
  const value = memberAt(members, path);
  return typeof value === "object" ? "" : String(value);
}

/** The vendor would treat a token of the other type as unknown, which does not revoke it. */
function requireRevocableType(vendor: ResolvedVendor, { tokenTypeHint }: RevokeRequest): void {
  const { revokes } = vendor;
  if (tokenTypeHint === undefined || revokes === "either" || revokes === tokenTypeHint) return;
  const wanted = revokes === "access_token" ? "access token" : "refresh token";
  throw noWay({ revocationHelp: `This vendor revokes by ${wanted} only: present the ${wanted}` });
}

function noWay({ revocationHelp = HELP }: Pick<ResolvedVendor, "revocationHelp">, vendorError?: string): OAuthError {
  return new OAuthError("unsupported_token_type", "This vendor offers no way to revoke this token", {
    help: revocationHelp,
    ...defined({ vendorError }),
  });
}

/**
 * The one request that ends as much of a grant as this vendor allows: by the refresh token, which
 * ends its access tokens too, except if the vendor revokes by access token only.
 *
 * @throws OAuthError as revokeToken
 */
export async function revokeGrant(
  vendor: ResolvedVendor,
  credentials: VendorCredentials,
  tokens: GrantTokens,
  deps: CallDeps,
): Promise<Revoked> {
  return revokeToken(vendor, credentials, grantRevocation(vendor, tokens), deps);
}

//= rfc7009#2.1
function grantRevocation(
  { revokes }: Pick<ResolvedVendor, "revokes">,
  { accessToken, refreshToken }: GrantTokens,
): RevokeRequest {
  return refreshToken === undefined || revokes === "access_token"
    ? { token: accessToken, tokenTypeHint: "access_token" }
    : { token: refreshToken, tokenTypeHint: "refresh_token" };
}

const DISCARD_MILLISECONDS = 5_000;

/**
 * Revokes tokens that are returned to no caller. One attempt; no request waits for it, and its
 * failure changes nothing. Not if a revocation ends all grants of the user.
 */
export function discardTokens(
  vendor: ResolvedVendor,
  credentials: VendorCredentials,
  tokens: LostTokens,
  deps: CallDeps & { readonly timer: Timer },
): void {
  if (vendor.revocationEndpoint === undefined || vendor.revocation?.ends === "grant") return;
  const request = lostRevocation(vendor, tokens);
  if (request === undefined) return;
  const deadline = (): AbortSignal => deps.timer.timeout(DISCARD_MILLISECONDS);
  revokeToken(vendor, credentials, request, { ...deps, deadline }).catch(() => {});
}

function lostRevocation(vendor: ResolvedVendor, { accessToken, refreshToken }: LostTokens): RevokeRequest | undefined {
  if (accessToken !== undefined) return grantRevocation(vendor, { accessToken, refreshToken });
  if (refreshToken === undefined || vendor.revokes === "access_token") return undefined;
  return { token: refreshToken, tokenTypeHint: "refresh_token" };
}
