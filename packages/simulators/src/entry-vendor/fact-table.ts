/**
 * Every fact of an entry that the simulated vendor behaves by, and how a wrong copy of it looks in
 * the broker. A new member of the registry gets a row here, and its behaviour in the file that the
 * row's comment names. A member without a row is dropped from the broker's copy as its only
 * mutation, and the proof names it.
 */
import { takesScopes } from "./authorize.ts";
import type { Entry, Facts, PlaceholderFacts } from "./facts.ts";
import { choosesHost } from "./placeholders.ts";
import {
  changed,
  differentUnit,
  eachMember,
  GONE,
  members,
  otherHost,
  otherMeanings,
  others,
  urlMember,
  type Wrong,
  wrongRequests,
  wrongRevocations,
  wrongUrls,
} from "./wrong-values.ts";

/** A wrong copy of one fact. */
export interface Mutant {
  /** Which fact, e.g. `tokenEndpoint`. */
  readonly fact: string;
  /** What it counts as in the proof's table. */
  readonly kind: string;
  /** What is wrong in it. */
  readonly what: string;
  /** Instead of the fact; undefined removes it. */
  readonly value: unknown;
}

interface FactRow {
  readonly kind: string;
  readonly wrong: (value: never, facts: Facts) => Wrong;
  /** Also a fact if the entry says nothing, because the default is one. */
  readonly always?: true;
  /** Why the fact changes nothing in this entry; undefined if it does. */
  readonly idle?: (facts: Facts) => string | undefined;
}

const row = (kind: string, wrong: FactRow["wrong"], more: Omit<FactRow, "kind" | "wrong"> = {}): FactRow => ({
  kind,
  wrong,
  ...more,
});
const oneOf =
  (...all: readonly string[]) =>
  (value: string): Wrong =>
    others(value, all);
const gone = (): Wrong => GONE;
const opposite = (value: boolean): Wrong => ({ opposite: !value });
const twice = (seconds: number): Wrong => ({ ...GONE, another: seconds * 2 });
const goneOr = (another: unknown) => (): Wrong => ({ ...GONE, another });
const renamed = (names: Readonly<Record<string, string>>): Wrong => eachMember(names, "x_renamed");
const fixed = (parameters: Readonly<Record<string, string>>): Wrong => eachMember(parameters, "of_another");
const scopesWith =
  (another: string, kept = 0) =>
  (scopes: readonly string[]): Wrong => ({
    ...(scopes.length > 0 ? { none: [] } : {}),
    another: [...(kept === 0 ? [] : scopes.slice(kept)), another],
  });

/** Rows by member of an entry. */
const FACT_TABLE: Readonly<Record<string, FactRow>> = {
  // serves this host, path and query alone (vendor.ts)
  authorizationEndpoint: row("endpoint", wrongUrls),
  tokenEndpoint: row("endpoint", wrongUrls),
  // refreshes here, and not at the token endpoint (token.ts)
  refreshEndpoint: row("endpoint", wrongUrls),
  // exchanges and renews them by these requests (token.ts)
  longLivedToken: row("long-lived tokens", (how: object) => ({
    ...GONE,
    ...urlMember(how),
    ...wrongRequests(how as Readonly<Record<string, unknown>>),
  })),
  // revokes here (revoke.ts)
  revocationEndpoint: row("endpoint", wrongUrls),
  // registers clients here (identity.ts)
  registrationEndpoint: row("endpoint", wrongUrls, {
    idle: ({ registrationEndpoint = "" }) =>
      registrationEndpoint.includes("{") ? "registration comes before any tenant is known" : undefined,
  }),
  // publishes the keys of ID tokens here (identity.ts)
  jwksUri: row("endpoint", wrongUrls, { idle: issuesNoIdTokens }),
  // names the user here (identity.ts)
  userinfoEndpoint: row("endpoint", wrongUrls),
  // introspects here (identity.ts)
  introspectionEndpoint: row("endpoint", wrongUrls),
  // insists on it (requests.ts)
  tokenEndpointAuthMethod: row("client authentication", oneOf("client_secret_basic", "client_secret_post", "none"), {
    always: true,
    idle: ({ secretIsUserName }) => (secretIsUserName === true ? "the secret is the user name" : undefined),
  }),
  // verifies the signed secret (requests.ts)
  clientSecret: row("client authentication", (form: object) => ({
    ...GONE,
    ...members(form, { audience: "https://other.example", lifetimeSeconds: 864_000 }),
  })),
  // verifies it (requests.ts)
  clientAssertion: row("client authentication", gone),
  // splits the requested scopes by it (authorize.ts)
  scopeSeparator: row("scope separator", oneOf(" ", ","), {
    always: true,
    idle: (facts) => (takesScopes(facts) ? undefined : "requests name no scopes"),
  }),
  // reads scopes there (authorize.ts)
  scopeParameter: row("scope parameter", () => ({ other: "scopes" })),
  // grants what is asked for (authorize.ts)
  defaultScopes: row("default scopes", scopesWith("openid.of.another", 1)),
  // issues no refresh token without them (state.ts)
  offlineScopes: row("offline scopes", scopesWith("offline.of.another")),
  // requires it, or refuses it (authorize.ts, token.ts)
  pkce: row("PKCE", oneOf("S256", "plain", "none"), { always: true }),
  // takes the parameter on both legs, or refuses it (authorize.ts, token.ts)
  resource: row("resource", oneOf("send", "omit"), { always: true }),
  // refuses a request without it (authorize.ts)
  defaultResource: row("resource", goneOr("https://resource-of-another.com")),
  // reads parameters under these names alone (requests.ts)
  parameterNames: row("parameter names", renamed),
  // reads parameters of the page under these names (authorize.ts)
  authorizationParameterNames: row("parameter names", renamed),
  // refuses a request without them (authorize.ts)
  authorizationParams: row("fixed parameters", fixed),
  // refuses any other response type (authorize.ts)
  responseType: row("parameter names", gone),
  // refuses a code, or a refresh, without them (token.ts)
  codeExchangeParams: row("fixed parameters", fixed),
  refreshParams: row("fixed parameters", fixed),
  // takes the secret as user name (requests.ts)
  secretIsUserName: row("client authentication", gone),
  // ends codes after it (authorize.ts)
  authorizationCodeLifetimeSeconds: row("lifetimes", () => ({ short: 6 })),
  // ends codes within seconds for `callback` (authorize.ts)
  redeemAt: row("lifetimes", oneOf("token", "callback")),
  // refuses a token request without them (token.ts)
  tokenHeaders: row("fixed parameters", fixed),
  // refuses any other (requests.ts)
  tokenRequestBody: row("request body", oneOf("form", "json"), { always: true }),
  // wraps its tokens in it (token.ts)
  tokenResponseMember: row("answer shape", goneOr("of_another")),
  // uses these names (token.ts)
  tokenResponseNames: row("answer shape", fixed),
  // states a point in time (token.ts)
  tokenExpiry: row("lifetimes", (expiry: object) => ({
    ...GONE,
    ...members(expiry, { member: "of_another" }),
    ...differentUnit(expiry as { readonly unit: string }),
  })),
  // states its errors there (vendor.ts)
  tokenResult: row("error shape", (result: object) => ({ ...GONE, ...members(result, { member: "of_another" }) })),
  // states no lifetime (token.ts)
  defaultLifetimeSeconds: row("lifetimes", twice),
  defaultRefreshLifetimeSeconds: row("lifetimes", twice),
  // states its errors there (vendor.ts)
  errorMember: row("error shape", goneOr("of_another")),
  // answers with each (vendor.ts), or sends the user back with it
  tokenErrors: row("error shape", otherMeanings),
  callbackErrors: row("error shape", otherMeanings),
  // issues none, or some (state.ts)
  issuesRefreshTokens: row("refresh tokens", opposite),
  // ends the used token, or keeps it (token.ts)
  rotatesRefreshTokens: row("rotation", opposite),
  // takes revocations in this form alone (revoke.ts)
  revocation: row("revocation", (dialect: object) => ({ ...GONE, ...wrongRevocations(dialect) })),
  // ends this type of token alone (revoke.ts)
  revokes: row("revocation", oneOf("access_token", "refresh_token", "either")),
  // a text for users; the vendor does nothing by it
  revocationHelp: row("revocation", () => ({ another: "Ask another vendor" })),
  // names itself in callbacks, ID tokens and metadata (authorize.ts, token.ts)
  issuer: row("issuer", (issuer: string) => ({ host: otherHost(issuer), path: `${issuer}x` })),
  // says there whose its authorization server is (identity.ts)
  serverUrl: row("MCP server", wrongUrls),
  // leaves the scheme out of ID tokens (token.ts)
  issuerSpelling: row("issuer", oneOf("exact", "bare")),
  // names the tenant in its issuer (state.ts)
  issuerTemplate: row("issuer", (template: object) => ({
    ...GONE,
    ...members(template, { claim: "of_another", pattern: "of-another", placeholder: "of_another" }),
  })),
  // leaves `iss` out if it may (authorize.ts)
  issRequired: row("issuer", opposite),
  // if false, sends an ID token that is no JWT; otherwise OpenID Connect's (token.ts)
  issuesIdTokens: row("ID tokens", opposite, {
    idle: ({ issuer }) => (issuer === undefined ? "without an issuer there are no ID tokens" : undefined),
  }),
  // names a project beside the client (token.ts)
  additionalAudiences: row("ID tokens", opposite, { idle: issuesNoIdTokens }),
  // signs with the first (token.ts)
  idTokenAlgs: row("ID tokens", () => ({ another: ["ES512"] })),
  // names the user there (token.ts)
  identity: row("account", (identity: object | string) =>
    typeof identity === "object" ? members(identity, { members: ["of_another"] }) : {},
  ),
  // says it of the account (identity.ts)
  identifies: row("account", gone, { idle: () => "the broker signs no user in" }),
  // answers this request alone (identity.ts)
  account: row("account", (account: object) => ({
    ...GONE,
    ...urlMember(account),
    ...members(account, { method: "PUT", identity: ["of_another"] }),
    ...changed(account, {
      body: { of: "another" },
      form: {},
      host: { member: "of_another", below: "another.example" },
      headers: {},
      token: undefined,
      member: "of_another",
      refusal: { member: "of_another", values: [] },
      scopeHeader: "x-of-another",
    }),
  })),
  // answers this request alone (identity.ts)
  tokenCheck: row("account", (check: { readonly authentication: string }) => ({
    ...GONE,
    ...urlMember(check),
    ...members(check, {
      method: "PUT",
      authentication: check.authentication === "basic" ? "bearer" : "basic",
      inactiveStatuses: [418],
      client: ["of_another"],
      identity: ["of_another"],
    }),
    ...changed(check, {
      tokenParameter: "of_another",
      scope: "of_another",
      expiry: { member: "of_another", unit: "seconds" },
    }),
  })),
  // requires the state again with the code (token.ts)
  repeatsState: row("callback parameters", gone),
  // knows the address by this name alone (authorize.ts)
  redirectUriAlias: row("parameter names", gone),
  // names its code so (authorize.ts)
  callbackCodeName: row("callback parameters", gone),
  // requires them again with each refresh, or with the code (token.ts)
  refreshCallbackParams: row("callback parameters", gone),
  echoedCallbackParams: row("callback parameters", gone),
  // sends them (authorize.ts)
  callbackParams: row("callback parameters", (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [`without ${name}`, names.filter((other) => other !== name)])),
  ),
};

/** Members that say nothing of what a vendor does on the wire. */
export const NOT_BEHAVIOUR: Readonly<Record<string, string>> = {
  id: "names the entry here",
  name: "is shown to users",
  scopeMeanings: "is shown to users",
  choosesAccount: "is for a deployed server's own sign-in; the broker sends the prompt of its callers",
  scopeRefusal: "is how the vendor's API refuses a deployed server; the broker calls no API",
  apiHosts: "limits where a deployed server sends tokens; the broker calls no API",
};

/**
 * @returns the wrong copies of every fact of an entry, one at a time; `value` of a fact
 *   `placeholders` is for all placeholders together
 */
export function mutantsOf(entry: Entry): readonly Mutant[] {
  const { facts } = entry;
  const ofMembers = factsOf(entry).flatMap((fact) => {
    const known = FACT_TABLE[fact];
    if (known === undefined) return [{ fact, kind: `without a row: ${fact}`, what: "removed", value: undefined }];
    if (known.idle?.(facts) !== undefined) return [];
    const value = (facts as unknown as Readonly<Record<string, never>>)[fact] as never;
    return Object.entries(known.wrong(value, facts)).map(([what, wrong]) => {
      const kind = known.kind === "endpoint" ? `endpoint ${what}` : known.kind;
      return { fact, kind, what, value: wrong };
    });
  });
  return [...ofMembers, ...wrongPlaceholders(entry)];
}

/** @returns the facts of an entry that change nothing there, each with the reason */
export function idleFactsOf(entry: Entry): readonly string[] {
  return factsOf(entry).flatMap((fact) => {
    const why = FACT_TABLE[fact]?.idle?.(entry.facts);
    return why === undefined ? [] : [`${entry.facts.id} ${fact}: ${why}`];
  });
}

function factsOf({ stated }: Entry): readonly string[] {
  const always = Object.entries(FACT_TABLE).flatMap(([fact, { always }]) => (always === true ? [fact] : []));
  return [...new Set([...Object.keys(stated), ...always])].filter((name) => NOT_BEHAVIOUR[name] === undefined);
}

function issuesNoIdTokens({ issuer, issuesIdTokens }: Facts): string | undefined {
  return issuer === undefined || issuesIdTokens === false ? "there are no ID tokens to check" : undefined;
}

/** A restriction of a placeholder is gone, or is another. */
function wrongPlaceholders(entry: Entry): Mutant[] {
  const { placeholders } = entry;
  return Object.entries(placeholders).flatMap(([name, spec]) => {
    const wrong: (readonly [string, PlaceholderFacts])[] = [];
    const { values, suffix, pattern, follows } = spec;
    const { suffix: _suffix, ...anyHost } = spec;
    const { pattern: _pattern, ...anyText } = spec;
    if (values !== undefined) wrong.push(["values", { ...spec, values: ["of-another"] }]);
    if (choosesHost(name, entry)) wrong.push(["suffix", anyHost]);
    if (pattern !== undefined) wrong.push(["pattern", anyText]);
    if (suffix !== undefined) wrong.push(["other suffix", { ...spec, suffix: [".vendor-of-another.com"] }]);
    if (follows !== undefined) {
      const moved = Object.fromEntries(Object.entries(follows.values).map(([key, value]) => [key, `x-${value}`]));
      wrong.push(["follows", { ...spec, follows: { ...follows, values: moved } }]);
    }
    return wrong.map(([what, changed]) => {
      const value = { ...placeholders, [name]: changed };
      return { fact: "placeholders", kind: "placeholders", what: `${what} of ${name}`, value };
    });
  });
}
