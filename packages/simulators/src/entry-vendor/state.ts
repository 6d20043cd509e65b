/**
 * What one simulated vendor knows: its entry for one tenant, our client there, and the codes and
 * tokens it has issued. Made by vendor.ts and passed to every endpoint.
 */
import { generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { type Entry, type Facts, isOfMcpServer, type RevocationFacts } from "./facts.ts";
import { fill, sampleValues } from "./placeholders.ts";

/** Our client at the vendor, as on its developer pages. */
export interface EntryClient {
  readonly clientId: string;
  /** Even if the vendor takes none: then it must not come. */
  readonly clientSecret: string;
  readonly redirectUri: string;
  /** The public half of the key that signs secrets, if the vendor requires those. */
  readonly secretKey?: { readonly teamId: string; readonly keyId: string; readonly key: KeyObject };
  /** Instead of the secret, if the vendor takes a certificate. */
  readonly certificate?: { readonly key: KeyObject; readonly thumbprint: string };
}

/** What a user has allowed our client. */
export interface Grant {
  readonly scope: readonly string[];
  readonly resource: string | undefined;
  readonly nonce: string | undefined;
}

/** A code that was issued and not redeemed. */
export interface IssuedCode extends Grant {
  readonly redirectUri: string | undefined;
  /** Given if the token request must repeat it. */
  readonly state: string | undefined;
  readonly codeChallenge: string | undefined;
  readonly expiresAt: number;
}

/** A token that is live. */
export interface IssuedToken {
  readonly kind: "access_token" | "refresh_token";
  readonly grant: Grant;
  readonly isLongLived?: true;
}

/** An endpoint that an entry may have. */
export type EndpointName = keyof ReturnType<typeof urlsOf>;

/**
 * What an MCP server publishes of itself:
 * - `the entry's endpoints`, which it then has
 * - `other endpoints`, at other paths of its hosts; it has no longer those of the entry
 * - `nothing`: it has the entry's endpoints, and no metadata
 * - `another issuer`: its own document names another authorization server
 * - `another's metadata`: its issuer's document is of another issuer
 */
export type Publication =
  | "the entry's endpoints"
  | "other endpoints"
  | "nothing"
  | "another issuer"
  | "another's metadata";

/** One vendor while it runs. */
export type VendorState = ReturnType<typeof createState>;

/** Scopes that every app has been given in addition to those of the entry. */
export const SAMPLE_SCOPES: readonly string[] = ["sample.read", "sample.write"];
/** A protected resource that every vendor knows. */
export const SAMPLE_RESOURCE = "https://api.sample-resource.com/v1";
/** How long access tokens live. */
export const LIFETIME_SECONDS = 3_600;
/** How long those live that were exchanged for a long-lived one. */
export const LONG_LIFETIME_SECONDS = 5_184_000;
/** The user who is signed in. */
export const SUBJECT = "user-1";

/** @param now whole seconds since 1970 */
export function createState(entry: Entry, client: EntryClient, now: () => number) {
  const { facts } = entry;
  const values = sampleValues(entry);
  const filled = (template: string): string => fill(template, entry, values, client.clientId);
  const issuer = facts.issuer === undefined ? undefined : filled(facts.issuer);
  const named = Object.entries(urlsOf(facts, issuer)) as [EndpointName, string | undefined][];
  const stored = new Map(
    named.flatMap(([name, url]) => (url === undefined ? [] : [[name, new URL(filled(url))] as const])),
  );
  const moved = new Map([...stored].map(([name, url]) => [name, DOCUMENTS.has(name) ? url : otherPath(url)]));
  return {
    publication: "the entry's endpoints" as Publication,
    /** As published last. */
    get endpoints(): ReadonlyMap<EndpointName, URL> {
      return this.publication === "other endpoints" ? moved : stored;
    },
    entry,
    facts,
    client,
    now,
    /** For this tenant; undefined if the entry has none. */
    issuer,
    /** @returns a text of the entry for this tenant */
    fill: filled,
    codes: new Map<string, IssuedCode>(),
    tokens: new Map<string, IssuedToken>(),
    /** Requests by endpoint that were not refused. */
    served: new Map<EndpointName, number>(),
  };
}

/** The endpoints of an entry, with the place of each in the entry. */
function urlsOf(facts: Facts, issuer: string | undefined) {
  return {
    authorization: facts.authorizationEndpoint,
    token: facts.tokenEndpoint,
    refresh: facts.refreshEndpoint,
    longLived: facts.longLivedToken?.endpoint,
    revocation: facts.revocationEndpoint,
    registration: facts.registrationEndpoint,
    jwks: facts.jwksUri ?? (issuer === undefined ? undefined : new URL("/sample/keys", issuer).href),
    userinfo: facts.userinfoEndpoint,
    introspection: facts.introspectionEndpoint,
    account: facts.account?.endpoint,
    tokenCheck: facts.tokenCheck?.endpoint,
    metadata: issuer === undefined ? undefined : wellKnown(issuer, facts),
    resource: facts.serverUrl === undefined ? undefined : resourceMetadata(facts.serverUrl),
  };
}

/** Where clients look for them, wherever other endpoints are. */
const DOCUMENTS: ReadonlySet<EndpointName> = new Set(["metadata", "resource"]);

function otherPath(url: URL): URL {
  const moved = new URL(url);
  moved.pathname = `/moved${url.pathname}`;
  return moved;
}

/** An MCP server has RFC 8414's document, and any other vendor OpenID Connect's. */
function wellKnown(issuer: string, facts: Facts): string {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  return isOfMcpServer(facts)
    ? `${origin}/.well-known/oauth-authorization-server${path}`
    : `${origin}${path}/.well-known/openid-configuration`;
}

function resourceMetadata(serverUrl: string): string {
  const { origin, pathname } = new URL(serverUrl);
  return `${origin}/.well-known/oauth-protected-resource${pathname.replace(/\/$/, "")}`;
}

/** Whether ID tokens of this vendor are OpenID Connect's. */
export function hasIdTokens({ facts }: Entry): boolean {
  const { issuer, issuesIdTokens, jwksUri, defaultScopes, offlineScopes } = facts;
  if (issuer === undefined || issuesIdTokens === false) return false;
  // The issuer of an MCP server is OAuth's alone, unless it has keys or the scope.
  return !isOfMcpServer(facts) || jwksUri !== undefined || [...defaultScopes, ...offlineScopes].includes("openid");
}

/** A refresh token comes only when everything that it needs was granted. */
export function isRefreshable({ facts }: Entry, scope: readonly string[]): boolean {
  return facts.issuesRefreshTokens !== false && facts.offlineScopes.every((offline) => scope.includes(offline));
}

/** @returns whether a token of this kind can be revoked here */
export function isRevocable({ facts }: Entry, kind: IssuedToken["kind"]): boolean {
  return facts.revocationEndpoint !== undefined && (facts.revokes === "either" || facts.revokes === kind);
}

/** The vendor says of an unknown token that it is unknown; the standard's answer does not. */
export function namesUnknownTokens({ goneStatuses, goneErrors = [] }: RevocationFacts): boolean {
  return goneStatuses.length + goneErrors.length > 0;
}

/** @returns a value that no other call returns */
export function randomName(kind: string): string {
  return `${kind}-${randomBytes(18).toString("base64url")}`;
}

/** Keys of all simulated vendors of a process: creating one takes longer than a whole journey. */
export function keyPair(alg: string): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  const kind = alg.startsWith("ES") ? "EC" : alg.startsWith("Ed") ? "OKP" : "RSA";
  const known = KEYS.get(kind);
  if (known !== undefined) return known;
  const made =
    kind === "EC"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : kind === "OKP"
        ? generateKeyPairSync("ed25519")
        : generateKeyPairSync("rsa", { modulusLength: 2048 });
  KEYS.set(kind, made);
  return made;
}

const KEYS = new Map<string, { readonly publicKey: KeyObject; readonly privateKey: KeyObject }>();
