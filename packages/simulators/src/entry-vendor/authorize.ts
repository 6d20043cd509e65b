/**
 * The vendor's authorization page: refuses every request that differs from what the entry says,
 * and otherwise sends the user back at once. It shows no page: the user has decided already.
 */
import { SAMPLE_RESOURCE, SAMPLE_SCOPES, type IssuedCode, randomName, type VendorState } from "./state.ts";
import type { Facts } from "./facts.ts";
import { type Parameters, readParameters, refusal, type VendorRequest } from "./requests.ts";

/** What the user decides on the page. */
export interface Decision {
  /** An error of the callback instead of a code. */
  readonly error?: string;
  /** The callback does not name the issuer, if the entry permits that. */
  readonly withoutIss?: boolean;
}

/** @throws Refusal, which the user would see as a page of the vendor */
export function answerAuthorization(request: VendorRequest, decision: Decision, state: VendorState): Response {
  const { client } = state;
  const facts = namesOfPage(state.facts);
  const { responseType = "code" } = facts;
  const parameters = readParameters(withoutEndpointQuery(request, state), facts);
  const fixed = Object.entries(facts.authorizationParams).map(([name, value]) => [name, state.fill(value)]);
  parameters.requireFixed(Object.fromEntries(fixed) as Record<string, string>);
  if (facts.parameterNames["response_type"] !== "" && parameters.require("response_type") !== responseType) {
    throw refusal("unsupported_response_type", `response_type is not ${responseType}`);
  }
  const isNamed = facts.parameterNames["client_id"] !== "";
  if (isNamed && parameters.require("client_id") !== client.clientId)
    throw refusal("invalid_client", "client_id is not known");
  const redirectUri = facts.parameterNames["redirect_uri"] === "" ? undefined : parameters.require("redirect_uri");
  const registered = facts.redirectUriAlias === undefined ? client.redirectUri : state.fill(facts.redirectUriAlias);
  if (redirectUri !== undefined && redirectUri !== registered) {
    throw refusal("invalid_request", "redirect_uri is not registered");
  }
  const clientState = parameters.require("state");
  const code: IssuedCode = {
    scope: takesScopes(facts) ? requireScope(parameters.take(facts.scopeParameter) ?? "", state) : SAMPLE_SCOPES,
    expiresAt: state.now() + codeLifetimeSeconds(state),
    redirectUri,
    state: facts.repeatsState === true ? clientState : undefined,
    codeChallenge: takeChallenge(parameters, facts),
    resource: takeResource(parameters, facts),
    nonce: parameters.take("nonce"),
  };
  const callback = new URLSearchParams({ state: clientState });
  parameters.requireNoOther();
  if (state.issuer !== undefined && decision.withoutIss !== true) callback.set("iss", state.issuer);
  if (decision.error === undefined) {
    const value = randomName("code");
    state.codes.set(value, code);
    callback.set(facts.callbackCodeName ?? "code", value);
    for (const name of facts.callbackParams) callback.set(name, callbackValue(name));
  } else callback.set("error", decision.error);
  return sendBack(facts.authorizationParams["response_mode"] === "form_post", client.redirectUri, callback);
}

function namesOfPage(facts: Facts): Facts {
  return { ...facts, parameterNames: { ...facts.parameterNames, ...facts.authorizationParameterNames } };
}

/** @returns `false`: the app has its scopes, and a request names none */
export function takesScopes(facts: Facts): boolean {
  return namesOfPage(facts).parameterNames[facts.scopeParameter] !== "";
}

/** A query that the endpoint itself has comes with every request. */
function withoutEndpointQuery({ url }: VendorRequest, { endpoints }: VendorState): [string, string][] {
  const query = new URLSearchParams(url.search);
  for (const [name, value] of endpoints.get("authorization")?.searchParams ?? []) {
    if (query.get(name) !== value) throw refusal("invalid_request", `${name} of the endpoint is missing`);
    query.delete(name, value);
  }
  return [...query];
}

function codeLifetimeSeconds({ facts }: VendorState): number {
  return facts.redeemAt === "callback" ? 3 : (facts.authorizationCodeLifetimeSeconds ?? 600);
}

/** @returns what the vendor adds to the callback under this name */
export function callbackValue(name: string): string {
  return `${name} of the callback`;
}

/** @throws Refusal invalid_scope for a scope that the app does not have */
export function requireScope(text: string, { facts }: VendorState): readonly string[] {
  const has = [...SAMPLE_SCOPES, ...facts.defaultScopes, ...facts.offlineScopes, "openid"];
  const scope = text === "" ? [] : text.split(facts.scopeSeparator);
  const unknown = scope.find((one) => !has.includes(one));
  if (unknown === undefined) return scope;
  throw refusal("invalid_scope", `the app has no scope "${unknown}" (they are separated by "${facts.scopeSeparator}")`);
}

function takeChallenge(parameters: Parameters, { pkce }: Facts): string | undefined {
  if (pkce === "none") return undefined;
  const codeChallenge = parameters.require("code_challenge");
  const method = parameters.take("code_challenge_method") ?? "plain";
  if (method !== pkce) throw refusal("invalid_request", `code_challenge_method is ${method}, not ${pkce}`);
  return codeChallenge;
}

function takeResource(parameters: Parameters, facts: Facts): string | undefined {
  if (facts.resource === "omit") return undefined;
  const resource = parameters.take("resource");
  const isKnown = resource === SAMPLE_RESOURCE || resource === facts.defaultResource;
  if (!isKnown) throw refusal("invalid_target", `the resource is ${resource ?? "missing"}`);
  return resource;
}

function sendBack(isPosted: boolean, redirectUri: string, callback: URLSearchParams): Response {
  if (!isPosted) {
    return new Response(null, { status: 303, headers: { location: `${redirectUri}?${callback.toString()}` } });
  }
  const inputs = [...callback].map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`);
  const form = `<form method="post" action="${redirectUri}">${inputs.join("")}</form>`;
  return new Response(form, { headers: { "content-type": "text/html" } });
}
