/**
 * Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document): a client whose id is
 * the https URL of its description. Fetched only from hosts on the operator's list, over the
 * guarded egress that reaches public addresses (loopback only if permitted), follows no redirect
 * and reads five kilobytes. An invalid document is refused and never cached. With `*` on the list
 * any public host is asked, and how often is limited.
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
import { callerName, type EgressOptions } from "@oauth-broker/oauth-core/egress";
import { isLoopbackName } from "@oauth-broker/service/configuration";
import { createRateLimit } from "@oauth-broker/service/http";
import type { HostedSettings } from "../../settings.ts";
import type { ServerClient } from "./client.ts";
import { readDocumentMetadata } from "./client-metadata.ts";

export interface DocumentDeps {
  /** `fetchUntrusted` of an egress with `documentEgress`. */
  readonly fetch: Fetch;
  /** The same, of one that never reaches loopback: for hosts that no one listed. */
  readonly fetchPublic: Fetch;
  /** With a port when that is not 443; `*`: any other public host too. */
  readonly hosts: readonly string[];
  /** Permits http on loopback. */
  readonly allowLoopback: boolean;
  readonly now: Clock;
}

/** On the list instead of a host: any public host, on port 443. */
export const ANY_HOST = "*";

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
export function documentEgress({ egress: { allowLoopback }, deploymentUrl }: DocumentSettings): EgressOptions {
  return {
    allowLoopback,
    allowCidrs: [],
    timeoutMs: DOCUMENT_MS,
    maxBodyBytes: DOCUMENT_BYTES,
    // On loopback, other services of this machine share our host name.
    refusedHosts: deploymentUrl === undefined || allowLoopback ? [] : [new URL(deploymentUrl).hostname],
  };
}

type DocumentSettings = Pick<HostedSettings, "egress"> & { readonly deploymentUrl: string | undefined };

/** For hosts that no one listed: loopback is never reached, even if the operator permits it. */
//= bar#AS-13
export function publicDocumentEgress({ egress, deploymentUrl }: DocumentSettings): EgressOptions {
  return documentEgress({ egress: { ...egress, allowLoopback: false }, deploymentUrl });
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
  const loadWithinLimits = createDocumentLimits(deps);
  const load = async (clientId: string, fetch: Fetch): Promise<ServerClient> => {
    const { client, cacheSeconds } = await fetchDocument(clientId, fetch);
    known.set(clientId, client, deps.now() + cacheSeconds);
    return client;
  };
  return {
    has: (clientId) => standingOf(clientId, deps) !== undefined,
    find: async (clientId) => {
      const standing = standingOf(clientId, deps);
      if (standing === undefined) return undefined;
      const client = known.get(clientId);
      if (client !== undefined) return client;
      if (standing === "listed") return loads.run(clientId, () => load(clientId, deps.fetch));
      return loads.run(clientId, () => loadWithinLimits(clientId, () => load(clientId, deps.fetchPublic)));
    },
  };
}

/** Per minute and process. */
const FETCHES_OF_ADDRESS = 30;
const FETCHES_OF_HOST = 10;
const FAILURE_SECONDS = 60;
const MOST_FAILURES = 1_000;

/**
 * How often documents of hosts that no one listed are fetched: any caller can name such an address,
 * and this server must not send requests there for them without end.
 *
 * @returns loads a document; throws OAuthError slow_down, and what `load` throws, again without
 *   calling it while that is remembered
 */
//= bar#AS-13
function createDocumentLimits({ now }: Pick<DocumentDeps, "now">) {
  const failures = createExpiringMap<{ readonly cause: unknown }>(MOST_FAILURES, now);
  const ofAddress = createRateLimit(FETCHES_OF_ADDRESS, now);
  const ofHost = createRateLimit(FETCHES_OF_HOST, now);
  return async (clientId: string, load: () => Promise<ServerClient>): Promise<ServerClient> => {
    const failure = failures.get(clientId);
    if (failure !== undefined) throw failure.cause;
    // Outbound calls of a request are charged to the address it came from: routes.ts.
    const address = callerName();
    ofAddress.requireLeft(address);
    //= bar#AS-13
    ofHost.take(new URL(clientId).host);
    //= bar#AS-13
    ofAddress.add(address);
    try {
      return await load();
    } catch (cause) {
      //= bar#AS-13
      failures.set(clientId, { cause }, now() + FAILURE_SECONDS);
      throw cause;
    }
  };
}

/** Why a document may be fetched. */
type Standing = "listed" | "any_host";

//= bar#AS-13
function standingOf(
  clientId: string,
  { hosts, allowLoopback }: Pick<DocumentDeps, "hosts" | "allowLoopback">,
): Standing | undefined {
  const url = documentUrl(clientId);
  if (url === undefined) return undefined;
  const isReachable = url.protocol === "https:" || (allowLoopback && isLoopbackName(url.hostname));
  if (hosts.includes(url.host)) return isReachable ? "listed" : undefined;
  //= bar#AS-13
  const isPublic = url.protocol === "https:" && url.port === "" && !isLoopbackName(url.hostname);
  return isPublic && hosts.includes(ANY_HOST) ? "any_host" : undefined;
}

/**
 * Checked as text, so that two spellings of one URL are not two clients: http or https, a path, no
 * user information, query or fragment.
 *
 * @returns undefined for an id that could not be a document's at any host
 */
//= bar#AS-13
function documentUrl(clientId: string): URL | undefined {
  const url = clientId.length > 2000 ? null : URL.parse(clientId);
  if (url === null || url.href !== clientId || !/^https?:$/.test(url.protocol)) return undefined;
  const isPlain = url.username === "" && url.password === "" && !/[#?]/.test(clientId);
  return isPlain && url.pathname !== "/" ? url : undefined;
}

const LONGEST_HOST = 253;

/**
 * @returns the host of an id that would be a document's if that host were permitted, as an A-label
 *   and fit to be shown; undefined for any other id
 */
function documentHost(clientId: string): string | undefined {
  const url = documentUrl(clientId);
  return url?.protocol === "https:" ? url.host.slice(0, LONGEST_HOST).replace(/[^\w.:[\]-]/g, "?") : undefined;
}

/** Ids as servers issue them: no other text of a caller goes to the log as an id. */
const PLAIN_ID = /^[\w.:/~-]{1,200}$/;

/**
 * A browser comes with a `client_id` that is not known here: the page has to say what helps, since
 * the application will send the same id again, and the log which id or host it was. Thrown at
 * /authorize; service/src/http/error-page.ts has the advice by reason.
 */
export function unknownClient(clientId: string): OAuthError {
  const host = documentHost(clientId);
  if (host !== undefined) {
    return new OAuthError(
      "invalid_client",
      `The application describes itself at ${host}, and this server accepts no descriptions from that host`,
      { reason: "client_host_not_listed", detail: `client_id is at ${host}` },
    );
  }
  const detail = PLAIN_ID.test(clientId) ? `client_id ${clientId}` : `client_id of ${clientId.length} characters`;
  return new OAuthError("invalid_request", "This server does not know the application any more, or never did", {
    reason: "client_unknown",
    detail,
  });
}

async function fetchDocument(
  url: string,
  fetch: Fetch,
): Promise<{ readonly client: ServerClient; readonly cacheSeconds: number }> {
  const answer = await fetch(url, { headers: { accept: "application/json" }, redirect: "manual" }).catch(
    (cause: unknown) => {
      throw invalidDocument("no usable answer", cause);
    },
  );
  if (answer.status !== 200) throw invalidDocument(`status ${answer.status}`);
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(answer.headers.get("content-type") ?? "")) {
    throw invalidDocument("not JSON");
  }
  const document = await readDocument(answer);
  // A copied or referenced document of another client does not describe this one.
  //= bar#AS-13
  if (document["client_id"] !== url) throw invalidDocument("client_id is another");
  try {
    const { clientName, redirectUris } = readDocumentMetadata(document);
    return {
      client: { clientId: url, clientName, redirectUris, knownBy: "metadata_document" },
      cacheSeconds: cacheSeconds(answer.headers.get("cache-control")),
    };
  } catch (error) {
    throw invalidDocument(error instanceof OAuthError ? error.description : "unreadable");
  }
}

async function readDocument(answer: Response): Promise<JsonObject> {
  return answer
    .text()
    .then(parseJsonObject)
    .catch((cause: unknown) => {
      throw invalidDocument("not a JSON object of at most five kilobytes without duplicate names", cause);
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
function invalidDocument(detail: string, cause?: unknown): OAuthError {
  return new OAuthError(
    "invalid_client",
    "The application describes itself at an address that cannot be read, or not as this server needs it",
    { detail, reason: "client_metadata_document", ...defined({ cause }) },
  );
}
