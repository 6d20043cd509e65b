/**
 * Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document): a client whose id is the https URL of its own
 * description. Fetched from hosts of the operator's list only, over the guarded egress that reaches public addresses alone,
 * follows no redirect and reads five kilobytes. What is wrong is refused and never kept.
 */
import { type Clock, type Fetch, type JsonObject, OAuthError, parseJsonStrict } from "@oauth-broker/oauth-core";
import { isLoopback } from "../../mcp/known-host.ts";
import type { ServerClient } from "./client.ts";
import { readClientMetadata } from "./client-metadata.ts";

export interface DocumentDeps {
  /** `fetchUntrusted` of egress.ts. */
  readonly fetch: Fetch;
  /** With a port where it is not 443. */
  readonly hosts: readonly string[];
  /** Permits http on loopback. */
  readonly allowLoopback: boolean;
  readonly now: Clock;
}

/** Also where the document asks for longer. */
const LONGEST_CACHE_SECONDS = 86_400;
const DEFAULT_CACHE_SECONDS = 300;
const MOST_DOCUMENTS = 1_000;

export interface ClientDocuments {
  /** @returns undefined for an id that is no URL a document may be at. @throws OAuthError invalid_client, temporarily_unavailable */
  find(clientId: string): Promise<ServerClient | undefined>;
}

export function createClientDocuments(deps: DocumentDeps): ClientDocuments {
  const known = new Map<string, { readonly client: ServerClient; readonly until: number }>();
  return {
    find: async (clientId) => {
      if (!isDocumentUrl(clientId, deps)) return undefined;
      const cached = known.get(clientId);
      if (cached !== undefined && cached.until > deps.now()) return cached.client;
      const { client, cacheSeconds } = await fetchDocument(clientId, deps);
      known.delete(clientId);
      if (cacheSeconds > 0) known.set(clientId, { client, until: deps.now() + cacheSeconds });
      const [oldest] = known.keys();
      if (known.size > MOST_DOCUMENTS && oldest !== undefined) known.delete(oldest);
      return client;
    },
  };
}

/** As it stands, so that two spellings of one URL are not two clients: https, a path, nothing hidden. */
//= bar#AS-13
function isDocumentUrl(clientId: string, { hosts, allowLoopback }: DocumentDeps): boolean {
  const url = clientId.length > 2000 ? null : URL.parse(clientId);
  if (url === null || url.href !== clientId) return false;
  const isScheme = url.protocol === "https:" || (allowLoopback && url.protocol === "http:" && isLoopback(url.hostname));
  const isPlain = url.username === "" && url.password === "" && !clientId.includes("#") && url.search === "";
  return isScheme && isPlain && url.pathname !== "/" && hosts.includes(url.host);
}

async function fetchDocument(
  url: string,
  { fetch }: DocumentDeps,
): Promise<{ readonly client: ServerClient; readonly cacheSeconds: number }> {
  const answer = await fetch(url, { headers: { accept: "application/json" }, redirect: "manual" }).catch(
    (cause: unknown) => {
      throw new OAuthError("temporarily_unavailable", "The client's metadata document cannot be fetched", { cause });
    },
  );
  if (answer.status !== 200) throw refused(`status ${answer.status}`);
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(answer.headers.get("content-type") ?? "")) {
    throw refused("not JSON");
  }
  const document = await readDocument(answer);
  // Another's document, copied or pointed at, is not this client's.
  if (document["client_id"] !== url) throw refused("client_id is another");
  if (typeof document["client_name"] !== "string") throw refused("client_name is missing");
  try {
    const { clientName, redirectUris } = readClientMetadata(document, new URL(url).host);
    return {
      client: { clientId: url, clientName, redirectUris, knownBy: "metadata_document" },
      cacheSeconds: cacheSeconds(answer.headers.get("cache-control")),
    };
  } catch (error) {
    throw refused(error instanceof OAuthError ? error.description : "unreadable");
  }
}

async function readDocument(answer: Response): Promise<JsonObject> {
  const value = await answer
    .text()
    .then(parseJsonStrict)
    .catch(() => undefined);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw refused("not one JSON object, each member once");
}

function cacheSeconds(cacheControl: string | null): number {
  const directives = (cacheControl ?? "").toLowerCase();
  if (/\bno-(?:store|cache)\b/.test(directives)) return 0;
  const maxAge = /\bmax-age=(\d{1,9})\b/.exec(directives)?.[1];
  return Math.min(maxAge === undefined ? DEFAULT_CACHE_SECONDS : Number(maxAge), LONGEST_CACHE_SECONDS);
}

/** @param detail for the log */
function refused(detail: string): OAuthError {
  return new OAuthError("invalid_client", "The client's metadata document is not one this server takes", { detail });
}
