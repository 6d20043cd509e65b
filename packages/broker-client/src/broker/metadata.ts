/**
 * The broker's metadata: read at the first call, so that backend and broker may start in any order,
 * and cached for an hour.
 */
import {
  allowInsecureRequests,
  type AuthorizationServer,
  customFetch,
  discoveryRequest,
  processDiscoveryResponse,
} from "oauth4webapi";
import type { Clock, EpochSeconds, Fetch } from "../ports.ts";
import { type BrokerClientError, invalidResponse, isOutage } from "../error.ts";
import { requireSuccess } from "./answer-error.ts";

const KEPT_SECONDS = 3600;

export interface BrokerMetadata extends AuthorizationServer {
  readonly authorization_endpoint: string;
}

/**
 * @returns a function that returns the metadata; concurrent callers share one request, and a
 *   failure is not cached
 */
export function createMetadata(
  issuer: string,
  { fetch, now }: { readonly fetch: Fetch; readonly now: Clock },
): () => Promise<BrokerMetadata> {
  let known: { readonly metadata: Promise<BrokerMetadata>; readonly until: EpochSeconds } | undefined;
  return async () => {
    if (known !== undefined && known.until > now()) return known.metadata;
    const asked = { metadata: discover(issuer, fetch), until: now() + KEPT_SECONDS };
    known = asked;
    try {
      return await asked.metadata;
    } catch (error) {
      if (known === asked) known = undefined;
      throw error;
    }
  };
}

//= rfc8414#3.3
async function discover(issuer: string, fetch: Fetch): Promise<BrokerMetadata> {
  const url = new URL(issuer);
  const answer = await discoveryRequest(url, {
    algorithm: "oauth2",
    [customFetch]: (from, { method, headers }) => fetch(from, { method, headers }),
    [allowInsecureRequests]: isInsecure(issuer),
  });
  const metadata = await processDiscoveryResponse(url, await requireSuccess(answer).catch(requireOwnFault)).catch(
    notABroker,
  );
  const { authorization_endpoint: authorizationEndpoint } = metadata;
  const endpoints = [
    authorizationEndpoint,
    metadata.pushed_authorization_request_endpoint,
    metadata.token_endpoint,
    metadata.revocation_endpoint,
  ];
  // Our credentials go to the broker's own host and nowhere else, even if its metadata names
  // another.
  const areOwn = endpoints.every(
    (endpoint) => endpoint !== undefined && URL.canParse(endpoint) && new URL(endpoint).origin === url.origin,
  );
  const isBroker =
    //= rfc9126#5
    metadata.require_pushed_authorization_requests === true &&
    [metadata.code_challenge_methods_supported].flat().includes("S256") &&
    metadata.authorization_response_iss_parameter_supported === true;
  if (metadata.issuer !== issuer || authorizationEndpoint === undefined || !areOwn || !isBroker) return notABroker();
  return { ...metadata, authorization_endpoint: authorizationEndpoint };
}

/** That a token is dead, or a code spent, is not said by a response that had neither in its request. */
function requireOwnFault(error: BrokerClientError): never {
  if (isOutage(error) || error.code === "server_error") throw error;
  return notABroker();
}

function notABroker(): never {
  const description = "The metadata at the issuer is not that of a broker with this base_url, byte for byte";
  throw invalidResponse("not_a_broker", description);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * @throws Error for an issuer that is neither https nor http on loopback, or has more than an
 *   origin
 */
export function requireIssuerUrl(issuer: string): void {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.test(url.hostname));
  if (url === undefined || !isSafe || url.origin !== issuer) {
    throw new Error(
      "issuer must be the broker's base_url: https, without path or trailing slash (http on loopback only)",
    );
  }
}

/**
 * By default oauth4webapi uses https only. `requireIssuerUrl` has checked that an http issuer is on
 * loopback.
 */
export function isInsecure(issuer: string): boolean {
  return issuer.startsWith("http:");
}
