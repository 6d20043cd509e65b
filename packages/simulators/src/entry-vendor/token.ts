/**
 * The vendor's token endpoint and, if it has one, its refresh endpoint: what the entry says of
 * the request is required, and the answer has the shape that the entry says.
 */
import { createHash } from "node:crypto";
import { SignJWT } from "jose";
import { callbackValue, requireScope } from "./authorize.ts";
import type { Facts, Json } from "./facts.ts";
import { TENANT } from "./placeholders.ts";
import {
  requireClient,
  isObject,
  merge,
  nested,
  type Parameters,
  readBody,
  readParameters,
  refusal,
  textOf,
  type VendorRequest,
} from "./requests.ts";
import {
  type Grant,
  hasIdTokens,
  isRefreshable,
  keyPair,
  LIFETIME_SECONDS,
  LONG_LIFETIME_SECONDS,
  randomName,
  SUBJECT,
  type VendorState,
} from "./state.ts";

/** @param at which of the two endpoints received it */
export async function answerToken(
  request: VendorRequest,
  at: "token" | "refresh",
  state: VendorState,
): Promise<Response> {
  const { facts, endpoints } = state;
  for (const [name, value] of Object.entries(facts.tokenHeaders ?? {})) {
    if (request.headers.get(name) !== value) throw refusal("invalid_request", `the header ${name} is missing or wrong`);
  }
  const parameters = readParameters(readBody(request, facts.tokenRequestBody), facts);
  // A vendor without a name for it has codes alone.
  const grantType = facts.parameterNames["grant_type"] === "" ? "authorization_code" : parameters.require("grant_type");
  const refreshesAt = endpoints.has("refresh") && !isSameEndpoint(state) ? "refresh" : "token";
  if (grantType === "authorization_code" && at === "token") return redeem(request, parameters, state);
  if (grantType === "refresh_token" && (at === refreshesAt || isSameEndpoint(state))) {
    return refresh(request, parameters, state);
  }
  throw refusal("unsupported_grant_type", `${grantType} at the ${at} endpoint`);
}

function isSameEndpoint({ endpoints }: VendorState): boolean {
  return endpoints.get("refresh")?.href === endpoints.get("token")?.href;
}

async function redeem(request: VendorRequest, parameters: Parameters, state: VendorState): Promise<Response> {
  const { facts, codes, now } = state;
  await requireClient(request, parameters, state);
  const value = parameters.require("code");
  const code = codes.get(value);
  if (code === undefined) throw refusal("invalid_grant", "the code is unknown or used");
  codes.delete(value);
  if (code.expiresAt <= now()) throw refusal("invalid_grant", "the code has expired");
  if (facts.parameterNames["redirect_uri"] !== "" && parameters.require("redirect_uri") !== code.redirectUri) {
    throw refusal("invalid_grant", "redirect_uri is not the one of the authorization request");
  }
  requireVerifier(parameters, code.codeChallenge, facts.pkce);
  parameters.requireFixed(facts.codeExchangeParams ?? {});
  if (code.state !== undefined) parameters.requireFixed({ state: code.state });
  parameters.requireFixed(ofCallback(facts.echoedCallbackParams));
  if (facts.resource === "send" && parameters.take("resource") !== code.resource) {
    throw refusal("invalid_target", "the resource is not the one of the authorization request");
  }
  parameters.requireNoOther();
  return issue(code, request, state);
}

/**
 * A GET with the token and the secret in its query: the first exchanges a short-lived token, the
 * refresh endpoint renews a long-lived one. A vendor that has no renewal exchanges both.
 */
export function answerLongLived(request: VendorRequest, at: "longLived" | "refresh", state: VendorState): Response {
  const { facts, client, tokens } = state;
  const { exchange, renewal } = facts.longLivedToken!;
  const expected = at === "refresh" ? renewal! : exchange;
  const parameters = readParameters(request.url.searchParams, facts);
  const filled = Object.entries(expected).map(([name, text]): [string, string] => [
    name,
    text.replace("{client_id}", client.clientId).replace("{client_secret}", client.clientSecret),
  ]);
  const [ofToken = ""] = filled.find(([, text]) => text === "{token}") ?? [];
  const value = parameters.require(ofToken);
  parameters.requireFixed(Object.fromEntries(filled.filter(([name]) => name !== ofToken)));
  parameters.requireNoOther();
  const known = tokens.get(value);
  const isRight = renewal === undefined || (known?.isLongLived === true) === (at === "refresh");
  if (known?.kind !== "access_token" || !isRight) throw refusal("invalid_grant", `no token for the ${at} endpoint`);
  const accessToken = randomName("long-lived");
  tokens.set(accessToken, { ...known, isLongLived: true });
  return Response.json({ access_token: accessToken, token_type: "bearer", expires_in: LONG_LIFETIME_SECONDS });
}

function ofCallback(names: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, callbackValue(name)]));
}

function requireVerifier(parameters: Parameters, codeChallenge: string | undefined, pkce: string): void {
  if (codeChallenge === undefined) return;
  const verifier = parameters.require("code_verifier");
  const derived = pkce === "plain" ? verifier : createHash("sha256").update(verifier).digest("base64url");
  if (derived !== codeChallenge) throw refusal("invalid_grant", "code_verifier does not match code_challenge");
}

async function refresh(request: VendorRequest, parameters: Parameters, state: VendorState): Promise<Response> {
  const { facts, tokens } = state;
  await requireClient(request, parameters, state);
  const value = parameters.require("refresh_token");
  const scope = parameters.take("scope");
  parameters.requireFixed(facts.refreshParams ?? {});
  parameters.requireFixed(ofCallback(facts.refreshCallbackParams));
  parameters.requireNoOther();
  const known = tokens.get(value);
  if (known?.kind !== "refresh_token") throw refusal("invalid_grant", "the refresh token is unknown or used");
  const { grant } = known;
  if (scope !== undefined && !requireScope(scope, state).every((one) => grant.scope.includes(one))) {
    throw refusal("invalid_scope", "a refresh asks for more than was granted");
  }
  if (facts.rotatesRefreshTokens === true) tokens.delete(value);
  return issue({ ...grant, nonce: undefined }, request, state, {
    keepsRefreshToken: facts.rotatesRefreshTokens !== true,
  });
}

async function issue(
  grant: Grant,
  request: VendorRequest,
  state: VendorState,
  { keepsRefreshToken = false } = {},
): Promise<Response> {
  const { facts, entry, tokens } = state;
  const accessToken = randomName("access");
  tokens.set(accessToken, { kind: "access_token", grant });
  const issuesNone = keepsRefreshToken || facts.longLivedToken !== undefined || !isRefreshable(entry, grant.scope);
  const refreshToken = issuesNone ? undefined : randomName("refresh");
  if (refreshToken !== undefined) tokens.set(refreshToken, { kind: "refresh_token", grant });
  const idToken = await idTokenOf(grant, state);
  const standard: Record<string, Json> = {
    access_token: accessToken,
    token_type: "bearer",
    ...(facts.defaultLifetimeSeconds === undefined ? lifetime(facts.tokenExpiry, state.now()) : {}),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    scope: grant.scope.join(facts.scopeSeparator),
    ...(idToken === undefined ? {} : { id_token: idToken }),
  };
  return shaped(standard, request, state);
}

function lifetime(expiry: Facts["tokenExpiry"], now: number): Record<string, Json> {
  if (expiry === undefined) return { expires_in: LIFETIME_SECONDS };
  return { [expiry.member]: pointInTime(now + LIFETIME_SECONDS, expiry.unit) };
}

/** @param at seconds since 1970 */
export function pointInTime(at: number, unit: NonNullable<Facts["tokenExpiry"]>["unit"]): Json {
  if (unit === "date") return new Date(at * 1000).toISOString();
  return unit === "milliseconds" ? at * 1000 : at;
}

/** Names, wrapper, result member and the vendor's own identity, as a form if it likes forms. */
function shaped(
  standard: Readonly<Record<string, Json>>,
  request: VendorRequest,
  { facts, entry }: VendorState,
): Response {
  const named = Object.fromEntries(
    Object.entries(standard).map(([name, value]) => [facts.tokenResponseNames[name] ?? name, value] as const),
  );
  let body: Json = facts.tokenResponseMember === undefined ? named : nested(facts.tokenResponseMember, named);
  const [success] = facts.tokenResult?.success ?? [];
  if (facts.tokenResult !== undefined && success !== undefined)
    body = merge(body, { [facts.tokenResult.member]: success });
  if (typeof facts.identity === "object" && facts.identity.from === "token_response") {
    for (const path of facts.identity.members) body = merge(body, nested(path, `${path} of the user`));
  }
  if (facts.account?.host !== undefined)
    body = merge(body, nested(facts.account.host.member, new URL(facts.account.endpoint).host));
  const likesForms = entry.quirks.includes("token_response_not_json_by_default");
  if (!likesForms || /\bjson\b/.test(request.headers.get("accept") ?? "") || !isObject(body)) {
    return Response.json(body, { headers: { "cache-control": "no-store" } });
  }
  const form = Object.entries(body).map(([name, value]) => [name, textOf(value)]);
  return new Response(new URLSearchParams(form).toString(), {
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
}

/**
 * @returns a JWT; a text that is not a JWT if the vendor's ID tokens are not standard; undefined
 *   if the grant has no ID token
 */
async function idTokenOf({ scope, nonce }: Grant, state: VendorState): Promise<string | undefined> {
  const { facts, entry, client, issuer = "", now } = state;
  if (facts.issuesIdTokens === false) return "an ID token of its own kind";
  if (!hasIdTokens(entry) || !scope.includes("openid")) return undefined;
  const [alg = "RS256"] = facts.idTokenAlgs;
  const members =
    typeof facts.identity === "object" && facts.identity.from === "id_token" ? facts.identity.members : [];
  const tenant = facts.issuerTemplate === undefined ? {} : { [facts.issuerTemplate.claim]: TENANT };
  const claims = {
    ...Object.fromEntries(members.map((name) => [name, `${name} of the user`])),
    sub: SUBJECT,
    ...tenant,
    ...(nonce === undefined ? {} : { nonce }),
    ...(facts.additionalAudiences === true ? { azp: client.clientId } : {}),
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg, kid: alg })
    .setIssuer(facts.issuerSpelling === "bare" ? issuer.replace(/^https:\/\//, "") : issuer)
    .setAudience(facts.additionalAudiences === true ? [client.clientId, "a project"] : client.clientId)
    .setIssuedAt(now())
    .setExpirationTime(now() + LIFETIME_SECONDS)
    .sign(keyPair(alg).privateKey);
}
