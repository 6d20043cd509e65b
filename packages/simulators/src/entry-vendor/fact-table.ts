/**
 * Every fact of an entry, what the simulated vendor does about it, and how a wrong copy of it looks
 * in the broker. A new member of the registry gets a row here, and its behaviour in the file that
 * the row names. A member without a row is dropped from the broker's copy as its only mutation, and
 * the proof names it.
 */
import { takesScopes } from "./authorize.ts";
import type { Entry, Facts, Json, PlaceholderFacts } from "./facts.ts";
import { choosesHost } from "./placeholders.ts";
import {
  differentUnit,
  eachMember,
  gone,
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

/** A row of the table. */
export interface FactRow {
  readonly kind: string;
  /** What the simulated vendor does, and the file of this folder that does it. */
  readonly behaviour: string;
  /** Also a fact if the entry says nothing, because the default is one. */
  readonly always?: true;
  /** Why the fact changes nothing in this entry; undefined if it does. */
  readonly idle?: (facts: Facts) => string | undefined;
  readonly wrong: (value: never, facts: Facts) => Wrong;
}

const row = (kind: string, behaviour: string, wrong: FactRow["wrong"]): FactRow => ({
  kind,
  behaviour,
  wrong,
});

const endpoint = (behaviour: string): FactRow => row("endpoint", behaviour, wrongUrls);

/** Rows by member of an entry. */
export const FACT_TABLE: Readonly<Record<string, FactRow>> = {
  authorizationEndpoint: endpoint("serves this host, path and query alone (vendor.ts)"),
  tokenEndpoint: endpoint("serves this host, path and query alone (vendor.ts)"),
  refreshEndpoint: endpoint("refreshes here, and not at the token endpoint (token.ts)"),
  longLivedToken: row("long-lived tokens", "exchanges and renews them by these requests (token.ts)", (how: object) => ({
    ...gone(),
    ...urlMember(how),
    ...wrongRequests(how as Readonly<Record<string, unknown>>),
  })),
  revocationEndpoint: endpoint("revokes here (revoke.ts)"),
  registrationEndpoint: {
    ...endpoint("registers clients here (identity.ts)"),
    idle: (facts) =>
      facts.registrationEndpoint?.includes("{") === true ? "registration comes before any tenant is known" : undefined,
  },
  jwksUri: {
    ...endpoint("publishes the keys of ID tokens here (identity.ts)"),
    idle: issuesNoIdTokens,
  },
  userinfoEndpoint: endpoint("names the user here (identity.ts)"),
  introspectionEndpoint: endpoint("introspects here (identity.ts)"),
  tokenEndpointAuthMethod: {
    ...row("client authentication", "insists on it (requests.ts)", (method: string) =>
      others(method, ["client_secret_basic", "client_secret_post", "none"]),
    ),
    always: true,
    idle: ({ secretIsUserName }) => (secretIsUserName === true ? "the secret is the user name" : undefined),
  },
  clientSecret: row("client authentication", "verifies the signed secret (requests.ts)", (form: object) => ({
    ...gone(),
    ...members(form, { audience: "https://other.example", lifetimeSeconds: 864_000 }),
  })),
  clientAssertion: row("client authentication", "verifies it (requests.ts)", gone),
  scopeSeparator: {
    ...row("scope separator", "splits the requested scopes by it (authorize.ts)", (separator: string) =>
      others(separator, [" ", ","]),
    ),
    always: true,
    idle: (facts) => (takesScopes(facts) ? undefined : "requests name no scopes"),
  },
  scopeParameter: row("scope parameter", "reads scopes there (authorize.ts)", () => ({ other: "scopes" })),
  defaultScopes: row("default scopes", "grants what is asked for (authorize.ts)", (scopes: readonly string[]) => ({
    ...(scopes.length > 0 ? { none: [] } : {}),
    another: [...scopes.slice(1), "openid.of.another"],
  })),
  offlineScopes: row(
    "offline scopes",
    "issues no refresh token without them (state.ts)",
    (scopes: readonly string[]) => ({
      ...(scopes.length > 0 ? { none: [] } : {}),
      another: ["offline.of.another"],
    }),
  ),
  pkce: {
    ...row("PKCE", "requires it, or refuses it (authorize.ts, token.ts)", (method: string) =>
      others(method, ["S256", "plain", "none"]),
    ),
    always: true,
  },
  resource: {
    ...row("resource", "takes the parameter on both legs, or refuses it (authorize.ts, token.ts)", (resource: string) =>
      others(resource, ["send", "omit"]),
    ),
    always: true,
  },
  defaultResource: row("resource", "refuses a request without it (authorize.ts)", () => ({
    ...gone(),
    another: "https://resource-of-another.com",
  })),
  parameterNames: row(
    "parameter names",
    "reads parameters under these names alone (requests.ts)",
    (names: Readonly<Record<string, string>>) => eachMember(names, "x_renamed"),
  ),
  authorizationParameterNames: row(
    "parameter names",
    "reads parameters of the page under these names (authorize.ts)",
    (names: Readonly<Record<string, string>>) => eachMember(names, "x_renamed"),
  ),
  authorizationParams: row(
    "fixed parameters",
    "refuses a request without them (authorize.ts)",
    (parameters: Readonly<Record<string, string>>) => eachMember(parameters, "of_another"),
  ),
  responseType: row("parameter names", "refuses any other response type (authorize.ts)", gone),
  codeExchangeParams: row(
    "fixed parameters",
    "refuses a code without them (token.ts)",
    (parameters: Readonly<Record<string, string>>) => eachMember(parameters, "of_another"),
  ),
  refreshParams: row(
    "fixed parameters",
    "refuses a refresh without them (token.ts)",
    (parameters: Readonly<Record<string, string>>) => eachMember(parameters, "of_another"),
  ),
  secretIsUserName: row("client authentication", "takes the secret as user name (requests.ts)", gone),
  authorizationCodeLifetimeSeconds: row("lifetimes", "ends codes after it (authorize.ts)", () => ({
    short: 6,
  })),
  redeemAt: row("lifetimes", "ends codes within seconds for `callback` (authorize.ts)", (at: string) =>
    others(at, ["token", "callback"]),
  ),
  tokenHeaders: row(
    "fixed parameters",
    "refuses a token request without them (token.ts)",
    (headers: Readonly<Record<string, string>>) => eachMember(headers, "of_another"),
  ),
  tokenRequestBody: {
    ...row("request body", "refuses any other (requests.ts)", (format: string) => others(format, ["form", "json"])),
    always: true,
  },
  tokenResponseMember: row("answer shape", "wraps its tokens in it (token.ts)", () => ({
    ...gone(),
    another: "of_another",
  })),
  tokenResponseNames: row("answer shape", "uses these names (token.ts)", (names: Readonly<Record<string, string>>) =>
    eachMember(names, "of_another"),
  ),
  tokenExpiry: row("lifetimes", "states a point in time (token.ts)", (expiry: object) => ({
    ...gone(),
    ...members(expiry, { member: "of_another" }),
    ...differentUnit(expiry as { readonly unit: string }),
  })),
  tokenResult: row("error shape", "states its errors there (vendor.ts)", (result: object) => ({
    ...gone(),
    ...members(result, { member: "of_another" }),
  })),
  defaultLifetimeSeconds: row("lifetimes", "states no lifetime (token.ts)", (lifetime: number) => ({
    ...gone(),
    another: lifetime * 2,
  })),
  defaultRefreshLifetimeSeconds: row("lifetimes", "states none for refresh tokens (token.ts)", (lifetime: number) => ({
    ...gone(),
    another: lifetime * 2,
  })),
  errorMember: row("error shape", "states its errors there (vendor.ts)", () => ({ ...gone(), another: "of_another" })),
  tokenErrors: row("error shape", "answers with each (vendor.ts)", otherMeanings),
  callbackErrors: row("error shape", "sends the user back with each", otherMeanings),
  issuesRefreshTokens: row("refresh tokens", "issues none, or some (state.ts)", (issues: boolean) => ({
    opposite: !issues,
  })),
  rotatesRefreshTokens: row("rotation", "ends the old one, or keeps it (token.ts)", (rotates: boolean) => ({
    opposite: !rotates,
  })),
  revocation: row("revocation", "takes revocations in this form alone (revoke.ts)", (dialect: object) => ({
    ...gone(),
    ...wrongRevocations(dialect as Readonly<Record<string, Json>>),
  })),
  revokes: row("revocation", "ends this type of token alone (revoke.ts)", (type: string) =>
    others(type, ["access_token", "refresh_token", "either"]),
  ),
  revocationHelp: row("revocation", "has no revocation that it stands for", () => ({
    another: "Ask another vendor",
  })),
  issuer: row(
    "issuer",
    "names itself in callbacks, ID tokens and metadata (authorize.ts, token.ts)",
    (issuer: string) => ({
      host: otherHost(issuer),
      path: `${issuer}x`,
    }),
  ),
  serverUrl: row("MCP server", "says there whose its authorization server is (identity.ts)", wrongUrls),
  issuerSpelling: row("issuer", "leaves the scheme out of ID tokens (token.ts)", (spelling: string) =>
    others(spelling, ["exact", "bare"]),
  ),
  issuerTemplate: row("issuer", "names the tenant in its issuer (state.ts)", (template: object) => ({
    ...gone(),
    ...members(template, { claim: "of_another", pattern: "of-another", placeholder: "of_another" }),
  })),
  issRequired: row("issuer", "leaves `iss` out where it may (authorize.ts)", (required: boolean) => ({
    opposite: !required,
  })),
  issuesIdTokens: {
    ...row("ID tokens", "sends one of its own kind (token.ts)", (issues: boolean) => ({
      opposite: !issues,
    })),
    idle: ({ issuer }) => (issuer === undefined ? "without an issuer there are no ID tokens" : undefined),
  },
  additionalAudiences: {
    ...row("ID tokens", "names a project beside the client (token.ts)", (names: boolean) => ({ opposite: !names })),
    idle: (facts) => issuesNoIdTokens(facts),
  },
  idTokenAlgs: row("ID tokens", "signs with the first (token.ts)", () => ({ another: ["ES512"] })),
  identity: row("account", "names the user there (token.ts)", (identity: object | string) =>
    typeof identity === "object" ? members(identity, { members: ["of_another"] }) : {},
  ),
  identifies: {
    ...row("account", "says it of the account (identity.ts)", gone),
    idle: () => "the broker signs no user in",
  },
  account: row("account", "answers this request alone (identity.ts)", (account: object) => ({
    ...gone(),
    ...urlMember(account),
    ...members(account, { method: "PUT", identity: ["of_another"] }),
    ...("body" in account ? members(account, { body: { of: "another" } }) : {}),
    ...("form" in account ? members(account, { form: {} }) : {}),
    ...("host" in account ? members(account, { host: { member: "of_another", below: "another.example" } }) : {}),
    ...("headers" in account ? members(account, { headers: {} }) : {}),
    ...("token" in account ? members(account, { token: undefined }) : {}),
    ...("member" in account ? members(account, { member: "of_another" }) : {}),
    ...("refusal" in account ? members(account, { refusal: { member: "of_another", values: [] } }) : {}),
    ...("scopeHeader" in account ? members(account, { scopeHeader: "x-of-another" }) : {}),
  })),
  tokenCheck: row("account", "answers this request alone (identity.ts)", (check: object) => ({
    ...gone(),
    ...urlMember(check),
    ...members(check, {
      method: "PUT",
      authentication: (check as { authentication: string }).authentication === "basic" ? "bearer" : "basic",
      inactiveStatuses: [418],
      client: ["of_another"],
      identity: ["of_another"],
    }),
    ...("tokenParameter" in check ? members(check, { tokenParameter: "of_another" }) : {}),
    ...("scope" in check ? members(check, { scope: "of_another" }) : {}),
    ...("expiry" in check ? members(check, { expiry: { member: "of_another", unit: "seconds" } }) : {}),
  })),
  repeatsState: row("callback parameters", "wants the state again with the code (token.ts)", gone),
  redirectUriAlias: row("parameter names", "knows the address by this name alone (authorize.ts)", gone),
  callbackCodeName: row("callback parameters", "names its code so (authorize.ts)", gone),
  refreshCallbackParams: row("callback parameters", "wants them again with each refresh (token.ts)", gone),
  echoedCallbackParams: row("callback parameters", "wants them again with the code (token.ts)", gone),
  callbackParams: row("callback parameters", "sends them (authorize.ts)", (names: readonly string[]) =>
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
    if (values !== undefined) wrong.push(["values", { ...spec, values: ["of-another"] }]);
    if (choosesHost(name, entry)) wrong.push(["suffix", without(spec, "suffix")]);
    if (pattern !== undefined) wrong.push(["pattern", without(spec, "pattern")]);
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

function without(spec: PlaceholderFacts, name: keyof PlaceholderFacts): PlaceholderFacts {
  const { [name]: _, ...rest } = spec;
  return rest;
}
