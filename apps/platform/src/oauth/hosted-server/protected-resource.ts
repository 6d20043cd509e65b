/**
 * Discovers the protected resource metadata of a server as MCP clients do: by its 401, otherwise at
 * the path, otherwise at the root. A server may have none: then it is its own authorization server.
 * Before it: only the URL is known. After it: discover.ts.
 */
import { extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import type { Fetch } from "@oauth-broker/oauth-core";
import { processResourceDiscoveryResponse } from "oauth4webapi";
import { ask, broken } from "./failure.ts";

export interface ProtectedResource {
  /** Its own identifier, byte for byte, which tokens are for; without metadata its URL. */
  readonly resource: string;
  /** The first authorization server it names. */
  readonly issuer: string;
  /** The scope of its 401, otherwise all it supports; absent: the authorization server decides. */
  readonly scope?: string;
}

const PROBE = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const RESOURCE = "/.well-known/oauth-protected-resource";

/**
 * @throws OAuthError vendor_response_invalid, reason `no_challenge`, `no_resource_metadata` or
 *   `foreign_endpoint`; temporarily_unavailable
 */
export async function discoverResource(serverUrl: string, fetch: Fetch): Promise<ProtectedResource> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const answer = await ask(fetch, serverUrl, { method: "POST", headers, body: PROBE });
  if (answer.status !== 401) throw broken("no_challenge", "did not answer 401 to a request without a token");
  const challenge = extractWWWAuthenticateParams(answer);
  const metadata = await resourceMetadata(serverUrl, challenge.resourceMetadataUrl?.href, fetch);
  const { resource, authorization_servers: [issuer] = [], scopes_supported: scopes } = metadata;
  if (issuer === undefined) throw broken("no_resource_metadata", "names no authorization server");
  //= mcp-2026-07-28/authorization#scope-selection-strategy
  const scope = challenge.scope ?? scopes?.join(" ");
  return { resource, issuer, ...(scope === undefined || scope === "" ? {} : { scope }) };
}

const LISTS: ReadonlySet<string> = new Set([
  "authorization_servers",
  "scopes_supported",
  "code_challenge_methods_supported",
  "token_endpoint_auth_methods_supported",
]);

/**
 * Metadata whose endpoints are texts and whose lists are lists of texts: the library checks only
 * whose it is.
 *
 * @param document as a server sent it; a member that is `null` counts as absent
 * @throws TypeError for a member of another type
 */
export function requireTypes<Document extends object>(document: Document): Document {
  const present = Object.entries(document).filter(([, value]) => value !== null);
  for (const [name, value] of present) {
    const texts: unknown = name.endsWith("_endpoint") ? [value] : LISTS.has(name) ? value : [];
    if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string"))
      throw new TypeError(`${name} is of another type`);
  }
  return Object.fromEntries(present) as Document;
}

/** @throws OAuthError vendor_response_invalid, reason `foreign_endpoint` */
export function requireOwn(url: string, origin: string): void {
  const { href = "" } = URL.parse(url) ?? {};
  // The start of the text: a `blob:` URL has the origin of the one within it, and user information hides the host.
  if (href.startsWith(`${origin}/`)) return;
  throw broken("foreign_endpoint", "leads to a host other than its own");
}

type Metadata = Awaited<ReturnType<typeof processResourceDiscoveryResponse>>;

async function resourceMetadata(serverUrl: string, named: string | undefined, fetch: Fetch): Promise<Metadata> {
  const { origin, pathname } = new URL(serverUrl);
  if (named !== undefined) requireOwn(named, origin);
  for (const url of named === undefined ? [origin + RESOURCE + pathname, origin + RESOURCE] : [named]) {
    // The second place is tried only when the first has no metadata.
    const answer = await ask(fetch, url);
    if (named === undefined && answer.status >= 400) continue;
    const names = url === origin + RESOURCE ? [serverUrl, origin] : [serverUrl];
    return describedAs(names, answer);
  }
  // None: as MCP clients assumed before the protocol knew RFC 9728 (2025-03-26).
  return { resource: serverUrl, authorization_servers: [origin] };
}

/** At the root the metadata describes the server itself, or its whole origin. */
//= rfc9728#3.3
async function describedAs(names: readonly string[], answer: Response): Promise<Metadata> {
  let cause: unknown;
  for (const name of names) {
    try {
      // oxlint-disable-next-line no-await-in-loop
      return requireTypes(await processResourceDiscoveryResponse(new URL(name), answer.clone()));
    } catch (error) {
      cause = error;
    }
  }
  throw broken("no_resource_metadata", "does not describe itself as a protected resource", cause);
}
