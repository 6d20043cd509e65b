/**
 * A normalised token response becomes VendorTokens when every check has passed: the standard's by
 * oauth4webapi, the ID token's by id-token/checks.ts.
 */
import { defined } from "../../mechanics/defined.ts";
import {
  type AuthorizationServer,
  expectNoNonce,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
} from "oauth4webapi";
import { isOutage, OAuthError } from "../../protocol/errors.ts";
import type { ResolvedVendor, VendorCredentials, VendorTokens } from "../../registry/vendor.ts";
import { jsonResponse } from "../answer.ts";
import type { Discovery } from "../discovery/discover.ts";
import {
  expectedIssuer,
  type IdTokenSubject,
  parseIdToken,
  refused,
  ageOf,
  isOfAccessToken,
  requireAlg,
  requireAudience,
  requireIssuerClaim,
  requireSameSubject,
  requireSubject,
  verifySignature,
} from "../id-token/checks.ts";
import { spelledIssuer } from "../issuer.ts";
import { isUnpublishedKey, type SigningKeys } from "../id-token/jwks.ts";
import type { TokenAnswer } from "./response.ts";
import type { LostTokens } from "./revoke.ts";
import type { CallDeps, VendorClientDeps } from "../binding.ts";
import { type VendorCall, translateVendorError } from "../errors.ts";

export interface TokenDeps extends CallDeps, Pick<VendorClientDeps, "timer" | "onLesserAnswer"> {
  readonly keys: SigningKeys;
  readonly discovery: Discovery;
  /** Revokes tokens that failed a check. Not awaited. */
  readonly discard: (vendor: ResolvedVendor, credentials: VendorCredentials, tokens: LostTokens) => void;
}

export interface TokenExchange {
  readonly vendor: ResolvedVendor;
  readonly credentials: VendorCredentials;
  readonly call: VendorCall;
  /** The deadline of the whole operation; the token request was its first part. */
  readonly signal: AbortSignal;
  /** At code redemption the nonce that was sent, if any; a refreshed ID token needs none. */
  readonly nonce?: { readonly sent: string | undefined };
  /** At a refresh the subject of the first ID token, if it is known. */
  readonly first?: IdTokenSubject | undefined;
}

/**
 * @throws OAuthError vendor_response_invalid; temporarily_unavailable when the vendor's keys cannot
 *   be fetched, with `retry` when something was spent
 */
export async function validateTokenResponse(
  answer: TokenAnswer,
  acceptance: TokenExchange,
  deps: TokenDeps,
): Promise<VendorTokens> {
  const { call } = acceptance;
  const { idToken: raw, ...tokens } = answer;
  try {
    const idToken = raw === undefined ? undefined : await validateIdToken(raw, answer, acceptance, deps);
    if (idToken === undefined) await requireConforming(tokens, {}, acceptance, deps);
    return { ...tokens, ...defined({ idToken }) };
  } catch (error) {
    throw spent(translateVendorError(error, call), call);
  }
}

/** @returns undefined for a token that a refresh repeats: it says nothing new, and is left out */
async function validateIdToken(
  raw: string,
  answer: TokenAnswer,
  acceptance: TokenExchange,
  deps: TokenDeps,
): Promise<VendorTokens["idToken"]> {
  const { vendor, credentials, signal, first } = acceptance;
  const { header, claims, plain } = parseIdToken(raw);
  const alg = requireAlg(header, vendor.idTokenAlgs);
  const issuer = expectedIssuer(vendor, claims);
  requireIssuerClaim(claims, issuer);
  requireAudience(claims, credentials.clientId, vendor);
  const age = ageOf(claims, deps.now);
  const subject = requireSubject(claims);
  const isCurrent = age === "current" && isOfAccessToken(claims, alg, answer.accessToken);
  if (isCurrent)
    await requireConforming({ ...answer, idToken: plain }, { issuer }, acceptance, deps).catch((error: unknown) => {
      throw translateVendorError(error, acceptance.call, "id_token_invalid");
    });
  else requireRefresh(acceptance);
  const jwksUri = await jwksUriOf(vendor, signal, deps);
  const verified = verifySignature(raw, { alg, kid: header.kid }, jwksUri, deps, signal);
  await (age === "expired" && header.kid !== undefined ? verified.catch(unlessUnpublished) : verified);
  // Between two spellings one is passed on, so that a refreshed ID token in the other spelling
  // still names the same user.
  const named = { issuer: spelledIssuer(vendor, issuer), subject };
  requireSameSubject(named, first);
  return isCurrent ? { raw, ...named } : undefined;
}

/**
 * Some vendors answer a refresh with the ID token of the first answer. It is old, or of the access
 * token of then. Refusing it would end the grant for a token that no caller asked for.
 *
 * @throws OAuthError vendor_response_invalid at the first answer, if it has to be new
 */
//= bar#RF-6
function requireRefresh({ nonce }: TokenExchange): void {
  //= bar#ID-6
  //= bar#ID-9
  if (nonce !== undefined) throw refused("expired, issued long ago, or at_hash is of another token");
}

/** A vendor removes the keys of tokens that have expired. */
function unlessUnpublished(error: unknown): void {
  if (!isUnpublishedKey(error)) throw error;
}

async function jwksUriOf(
  { issuer, jwksUri }: ResolvedVendor,
  signal: AbortSignal,
  { discovery }: TokenDeps,
): Promise<string> {
  const known =
    jwksUri ?? (issuer === undefined ? undefined : (await discovery.metadata(issuer, () => signal)).jwksUri);
  if (known === undefined) throw refused("no jwks_uri to check it with");
  return known;
}

/** The library's own checks of the response, in the standard's members. */
async function requireConforming(
  answer: TokenAnswer,
  { issuer }: { readonly issuer?: string },
  { vendor, credentials, nonce }: TokenExchange,
  { bindings }: TokenDeps,
): Promise<void> {
  const known = bindings.ofVendor(vendor).server;
  const server: AuthorizationServer = issuer === undefined || issuer === known.issuer ? known : { ...known, issuer };
  const client = bindings.clientOf(credentials);
  const response = toTokenResponse(answer);
  if (nonce === undefined) await processRefreshTokenResponse(server, client, response);
  else if (answer.idToken === undefined) await processAuthorizationCodeResponse(server, client, response);
  else {
    //= oidc-core#3.1.3.7
    //= bar#VR-3
    const expectedNonce = nonce.sent ?? expectNoNonce;
    await processAuthorizationCodeResponse(server, client, response, { expectedNonce, requireIdToken: true });
  }
}

function toTokenResponse({ accessToken, expiresInSeconds, refreshToken, scope, idToken }: TokenAnswer): Response {
  const members = { access_token: accessToken, token_type: "bearer", refresh_token: refreshToken, id_token: idToken };
  return jsonResponse(defined({ ...members, expires_in: expiresInSeconds, scope: scope?.join(" ") }));
}

/**
 * The vendor has responded, so the sent value is spent: when we cannot read the response, the
 * caller has to start again.
 */
function spent(error: unknown, { spends }: VendorCall): unknown {
  if (!spends || !isOutage(error)) return error;
  return new OAuthError("temporarily_unavailable", "The vendor's signing keys cannot be fetched now", {
    cause: error,
    retry: "restart",
    ...defined({ retryAfterSeconds: error.retryAfterSeconds }),
  });
}
