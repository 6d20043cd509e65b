/**
 * Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document): a client whose id is
 * the https URL of its own description. Fetched only from hosts of the operator's list, over the
 * guarded egress that reaches public addresses (loopback only where permitted), follows no redirect
 * and reads five kilobytes. An invalid document is refused and never cached.
 */
import {
  type Clock,
  createExpiringMap,
  createSharedCalls,
  defined,
  type Fetch,
  type JsonObject,
  OAuthError,
  parseJsonObject,
} from "@oauth-broker/oauth-core";
import type { EgressOptions } from "@oauth-broker/oauth-core/egress";
import { isLoopback } from "../../mcp/known-host.ts";
import type { HostedSettings } from "../../settings.ts";
import type { ServerClient } from "./client.ts";
import { readDocumentMetadata } from "./client-metadata.ts";

export interface DocumentDeps {
  /** `fetchUntrusted` of an egress with `documentEgress`. */
  readonly fetch: Fetch;
  /** With a port when that is not 443. */
  readonly hosts: readonly string[];
  /** Permits http on loopback. */
  readonly allowLoopback: boolean;
  readonly now: Clock;
}

const DOCUMENT_BYTES = 5 * 1024;
const DOCUMENT_MS = 10_000;
/** Also when the document asks for longer. */
const LONGEST_CACHE_SECONDS = 86_400;
const DEFAULT_CACHE_SECONDS = 300;
const MOST_DOCUMENTS = 1_000;

/**
 * Any caller may name a document URL: networks that the operator opened for the vendor are closed
 * to it, and so is our own name.
 */
//= bar#AS-13
export function documentEgress({
  egress: { allowLoopback },
  deploymentUrl,
}: Pick<HostedSettings, "egress"> & { readonly deploymentUrl: string | undefined }): EgressOptions {
  return {
    allowLoopback,
    allowCidrs: [],
    timeoutMs: DOCUMENT_MS,
    maxBodyBytes: DOCUMENT_BYTES,
    // On loopback, other services of this machine share our host name.
    refusedHosts: deploymentUrl === undefined || allowLoopback ? [] : [new URL(deploymentUrl).hostname],
  };
}

export interface ClientDocuments {
  /**
   * Whether a document with this id is permitted. What was issued to the id is bound to it, and
   * needs no document.
   */
  has(clientId: string): boolean;
  /**
   * @returns undefined for an id that is not a permitted document URL.
   * @throws OAuthError invalid_client
   */
  find(clientId: string): Promise<ServerClient | undefined>;
}

export function createClientDocuments(deps: DocumentDeps): ClientDocuments {
  const known = createExpiringMap<ServerClient>(MOST_DOCUMENTS, deps.now);
  const loads = createSharedCalls<ServerClient>();
  const load = async (clientId: string): Promise<ServerClient> => {
    const { client, cacheSeconds } = await fetchDocument(clientId, deps);
    known.set(clientId, client, deps.now() + cacheSeconds);
    return client;
  };
  return {
    has: (clientId) => isDocumentUrl(clientId, deps),
    find: async (clientId) => {
      if (!isDocumentUrl(clientId, deps)) return undefined;
      return known.get(clientId) ?? loads.run(clientId, () => load(clientId));
    },
  };
}

/**
 * Checked as text, so that two spellings of one URL are not two clients: https, a path, no user
 * information, query or fragment.
 */
//= bar#AS-13
function isDocumentUrl(clientId: string, { hosts, allowLoopback }: DocumentDeps): boolean {
  const url = clientId.length > 2000 ? null : URL.parse(clientId);
  if (url === null || url.href !== clientId) return false;
  const isScheme = url.protocol === "https:" || (allowLoopback && url.protocol === "http:" && isLoopback(url.hostname));
  const isPlain = url.username === "" && url.password === "" && !/[#?]/.test(clientId);
  return isScheme && isPlain && url.pathname !== "/" && hosts.includes(url.host);
}

async function fetchDocument(
  url: string,
  { fetch }: DocumentDeps,
): Promise<{ readonly client: ServerClient; readonly cacheSeconds: number }> {
  const answer = await fetch(url, { headers: { accept: "application/json" }, redirect: "manual" }).catch(
    (cause: unknown) => {
      throw refused("no usable answer", cause);
    },
  );
  if (answer.status !== 200) throw refused(`status ${answer.status}`);
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(answer.headers.get("content-type") ?? "")) {
    throw refused("not JSON");
  }
  const document = await readDocument(answer);
  // A copied or referenced document of another client does not describe this one.
  if (document["client_id"] !== url) throw refused("client_id is another");
  try {
    const { clientName, redirectUris } = readDocumentMetadata(document);
    return {
      client: { clientId: url, clientName, redirectUris, knownBy: "metadata_document" },
      cacheSeconds: cacheSeconds(answer.headers.get("cache-control")),
    };
  } catch (error) {
    throw refused(error instanceof OAuthError ? error.description : "unreadable");
  }
}

async function readDocument(answer: Response): Promise<JsonObject> {
  return answer
    .text()
    .then(parseJsonObject)
    .catch((cause: unknown) => {
      throw refused("not a JSON object of at most five kilobytes without duplicate names", cause);
    });
}

function cacheSeconds(cacheControl: string | null): number {
  const directives = (cacheControl ?? "").toLowerCase();
  if (/\bno-(?:store|cache)\b/.test(directives)) return 0;
  const maxAge = /\bmax-age=(\d{1,9})\b/.exec(directives)?.[1];
  return Math.min(maxAge === undefined ? DEFAULT_CACHE_SECONDS : Number(maxAge), LONGEST_CACHE_SECONDS);
}

/**
 * One sentence for every cause, so that no caller can map a network with it.
 *
 * @param detail for the log
 */
function refused(detail: string, cause?: unknown): OAuthError {
  return new OAuthError(
    "invalid_client",
    "The application describes itself at an address that cannot be read, or not as this server needs it",
    { detail, reason: "client_metadata_document", ...defined({ cause }) },
  );
}
