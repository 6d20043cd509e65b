/**
 * What an entry of the registry says of a vendor, as the simulated vendor reads it: raw data, never
 * the registry's own code, and frozen, so that a change to the copy in the broker cannot reach it.
 * A member that stands here without behaviour is a row of fact-table.ts. Read by every file of this
 * folder.
 */
import firstClass from "./first-class.json" with { type: "json" };

/** A JSON value as an entry holds it. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** A point in time instead of a lifetime. */
export interface ExpiryFact {
  readonly member: string;
  readonly unit: "seconds" | "milliseconds" | "date";
}

/** What an error of the vendor means to the broker's client. */
export type ErrorFacts = Readonly<Record<string, string | { readonly code: string; readonly reason?: string }>>;

/** The same of token answers, if an error may mean one thing in some answers only. */
export type TokenErrorFacts = Readonly<Record<string, ErrorFacts[string] | readonly ErrorRule[]>>;

/** The error means this in an answer with this status, and a member of this value or beginning. */
export interface ErrorRule {
  readonly status?: number;
  readonly member?: string;
  readonly value?: string;
  readonly prefix?: string;
  readonly means: string;
}

/** How the vendor takes a token to revoke, if that is not RFC 7009. */
export interface RevocationFacts {
  readonly method: string;
  readonly authentication: "basic" | "bearer" | "none";
  readonly body: "form" | "json" | "query" | "none";
  readonly tokenParameter: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly success?: { readonly member: string; readonly values: readonly string[] };
  readonly ends: "token" | "grant";
  readonly goneStatuses: readonly number[];
  readonly goneErrors?: readonly string[];
}

/** The vendor's own account of a user. */
export interface AccountFacts {
  readonly endpoint: string;
  readonly method: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?:
    | { readonly in: "header"; readonly name?: string; readonly scheme?: string }
    | { readonly in: "path" }
    | { readonly in: "query" | "form"; readonly name: string };
  /** The token answer names the host. */
  readonly host?: { readonly member: string; readonly below: string };
  readonly form?: Readonly<Record<string, string>>;
  readonly member?: string;
  readonly refusal?: { readonly member: string; readonly values: readonly string[] };
  readonly identity?: readonly string[];
  readonly scopeHeader?: string;
}

/** The vendor's own check of an access token. */
export interface TokenCheckFacts {
  readonly endpoint: string;
  readonly method: string;
  readonly authentication: "basic" | "bearer";
  readonly tokenParameter?: string;
  readonly inactiveStatuses: readonly number[];
  readonly client: readonly string[];
  readonly identity?: readonly string[];
  readonly scope?: string;
  readonly expiry?: ExpiryFact;
}

/** The members of an entry that a vendor behaves by; an absent one has the default below. */
export interface Facts {
  readonly id: string;
  readonly name: string;
  readonly issuer?: string;
  readonly issuerSpelling: "exact" | "bare";
  readonly issuerTemplate?: { readonly placeholder: string; readonly claim: string; readonly pattern: string };
  readonly issuesIdTokens?: boolean;
  readonly issRequired?: boolean;
  readonly idTokenAlgs: readonly string[];
  readonly additionalAudiences?: boolean;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly refreshEndpoint?: string;
  readonly longLivedToken?: {
    readonly endpoint: string;
    readonly exchange: Readonly<Record<string, string>>;
    readonly renewal?: Readonly<Record<string, string>>;
  };
  readonly revocationEndpoint?: string;
  readonly registrationEndpoint?: string;
  readonly jwksUri?: string;
  readonly userinfoEndpoint?: string;
  readonly introspectionEndpoint?: string;
  /** The URL of the MCP server, if the vendor is its authorization server. */
  readonly serverUrl?: string;
  readonly revocation?: RevocationFacts;
  readonly revokes: "access_token" | "refresh_token" | "either";
  readonly revocationHelp?: string;
  readonly account?: AccountFacts;
  readonly tokenCheck?: TokenCheckFacts;
  readonly identity?: "unknown" | { readonly from: "id_token" | "token_response"; readonly members: readonly string[] };
  /** What is identified, if it is not a user. */
  readonly identifies?: "organization";
  readonly pkce: "S256" | "plain" | "none";
  readonly scopeSeparator: string;
  readonly scopeParameter: string;
  readonly defaultScopes: readonly string[];
  readonly offlineScopes: readonly string[];
  readonly resource: "send" | "omit";
  readonly defaultResource?: string;
  readonly parameterNames: Readonly<Record<string, string>>;
  readonly authorizationParameterNames?: Readonly<Record<string, string>>;
  readonly authorizationParams: Readonly<Record<string, string>>;
  readonly responseType?: string;
  readonly codeExchangeParams?: Readonly<Record<string, string>>;
  readonly refreshParams?: Readonly<Record<string, string>>;
  readonly authorizationCodeLifetimeSeconds?: number;
  readonly redeemAt: "token" | "callback";
  readonly tokenEndpointAuthMethod: "client_secret_basic" | "client_secret_post" | "none";
  readonly secretIsUserName?: boolean;
  readonly clientSecret?: { readonly audience: string; readonly alg: string; readonly lifetimeSeconds: number };
  readonly clientAssertion?: { readonly alg: string };
  readonly tokenRequestBody: "form" | "json";
  readonly tokenHeaders?: Readonly<Record<string, string>>;
  readonly tokenResponseMember?: string;
  readonly tokenResponseNames: Readonly<Record<string, string>>;
  readonly tokenExpiry?: ExpiryFact;
  readonly tokenResult?: { readonly member: string; readonly success: readonly (string | number | boolean)[] };
  readonly defaultLifetimeSeconds?: number;
  readonly defaultRefreshLifetimeSeconds?: number;
  readonly errorMember?: string;
  readonly tokenErrors: TokenErrorFacts;
  readonly callbackErrors: ErrorFacts;
  readonly issuesRefreshTokens?: boolean;
  readonly rotatesRefreshTokens?: boolean;
  readonly callbackCodeName?: string;
  readonly repeatsState?: true;
  readonly redirectUriAlias?: string;
  readonly callbackParams: readonly string[];
  readonly echoedCallbackParams?: readonly string[];
  readonly refreshCallbackParams?: readonly string[];
}

/** What an entry says of a `{placeholder}` of its URLs. */
export interface PlaceholderFacts {
  readonly values?: readonly string[];
  readonly pattern?: string;
  readonly default?: string;
  readonly kind?: string;
  /** Ends of hosts, with a leading dot. */
  readonly suffix?: readonly string[];
  readonly follows?: { readonly placeholder: string; readonly values: Readonly<Record<string, string>> };
}

/** One entry: its facts with the defaults filled in, and what it stated itself. */
export interface Entry {
  readonly facts: Facts;
  readonly placeholders: Readonly<Record<string, PlaceholderFacts>>;
  /** As written, without defaults. */
  readonly stated: Readonly<Record<string, Json>>;
  /** How the vendor departs from the standard in words of the sources. */
  readonly quirks: readonly string[];
  /** Absent: the account is made from the entry, and can only agree with it. */
  readonly witness?: AccountWitness;
}

/** What others have seen the vendor's account answer. */
export interface AccountWitness {
  readonly body: Json;
  /** The identity in it, as they read it. */
  readonly user: string;
}

/** The standard's behaviour, and this registry's own convention if the standard has none. */
const DEFAULTS = {
  issuerSpelling: "exact",
  idTokenAlgs: ["RS256"],
  revokes: "either",
  pkce: "S256",
  scopeSeparator: " ",
  scopeParameter: "scope",
  defaultScopes: [],
  offlineScopes: [],
  resource: "send",
  parameterNames: {},
  authorizationParams: {},
  redeemAt: "token",
  tokenEndpointAuthMethod: "client_secret_basic",
  tokenRequestBody: "form",
  tokenResponseNames: {},
  tokenErrors: {},
  callbackErrors: {},
  callbackParams: [],
} as const;

/** An entry as it is written down, in the catalogue or in first-class.json. */
export interface WrittenEntry {
  readonly vendor: Readonly<Record<string, unknown>>;
  readonly serverUrl?: string;
  /** A text is the description of a placeholder that is free within its place. */
  readonly placeholders?: Readonly<Record<string, unknown>>;
  readonly quirks?: readonly string[];
}

/**
 * @param catalogue the text of the catalogue, a JSON list of entries
 * @param witnesses by id
 * @returns the entries by id; the vendors with a separate file come from the copy in this
 *   folder
 */
export function readEntries(
  catalogue: string,
  witnesses: ReadonlyMap<string, AccountWitness> = new Map(),
): ReadonlyMap<string, Entry> {
  const listed = JSON.parse(catalogue) as WrittenEntry[];
  const own = structuredClone(firstClass.entries) as unknown as WrittenEntry[];
  return new Map(
    [...listed, ...own].map((written) => {
      const id = String(written.vendor["id"]);
      return [id, readEntry(written, witnesses.get(id))];
    }),
  );
}

/** @throws Error when the entry has no id or lacks one of its two endpoints */
export function readEntry(
  { vendor: written, serverUrl, placeholders = {}, quirks = [] }: WrittenEntry,
  witness?: AccountWitness,
): Entry {
  const isOfMcpServer = quirks.includes("mcp_authorization_server") && written["issuer"] !== undefined;
  const vendor = isOfMcpServer && serverUrl?.includes("{") === false ? { ...written, serverUrl } : written;
  for (const name of ["id", "authorizationEndpoint", "tokenEndpoint"]) {
    if (typeof vendor[name] !== "string") throw new Error(`${String(vendor["id"])}: the entry has no ${name}`);
  }
  const specs = Object.entries(placeholders).map(([name, spec]) => [name, typeof spec === "object" ? spec : {}]);
  return freeze({
    facts: { ...DEFAULTS, ...vendor } as unknown as Facts,
    placeholders: Object.fromEntries(specs) as Record<string, PlaceholderFacts>,
    stated: vendor as Record<string, Json>,
    quirks,
    ...(witness === undefined ? {} : { witness }),
  });
}

/** Whether the vendor's own metadata has to have its endpoints. */
export function isOfMcpServer({ serverUrl }: Facts): boolean {
  return serverUrl !== undefined;
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
