/**
 * The only folder that opens outbound connections. A `Fetch` that reaches public addresses over
 * https and nothing else, follows no redirect, keeps no cookies, uses no proxy but the operator's,
 * and gives up on answers that are too slow or too large. One call passes share.ts (whose turn it
 * is), guarded-connection.ts (which addresses), exchange.ts (one request, one answer) and messages.ts (the
 * web's types).
 */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { buildConnector, Pool } from "undici";
import type { Fetch } from "../ports.ts";
import { ANSWER_BOUNDS, type AnswerBounds, createAnswerBudget, type HeldAnswer } from "./answer-budget.ts";
import { decodeBody, readRequest, toResponse } from "./messages.ts";
import { type AddressPolicy, type ConnectorDeps, createGuardedConnector } from "./guarded-connection.ts";
import { egressError, isEgressError } from "./errors.ts";
import { exchange, type ExchangeLimits } from "./exchange.ts";
import { dnsLookup, type Lookup, systemLookup } from "./lookup.ts";
import type { Secret } from "../protocol/secret.ts";
import { proxyOf } from "./proxy.ts";
import type { Turns } from "../mechanics/turns.ts";
import { callerName, CONNECTIONS_PER_ORIGIN, createOriginTurns } from "./share.ts";
import { createTrust } from "./trust-anchors.ts";
import { egressUrlRules, operatorsHosts, parseEgressUrl, urlFault } from "./url.ts";

export { createCidrMatcher } from "./address-ranges.ts";
export type { AnswerBounds } from "./answer-budget.ts";
export { type EgressError, type EgressErrorKind, isEgressError } from "./errors.ts";
export { type Caller, callerName, onBehalfOf } from "./share.ts";
export { registrableDomainOf } from "../protocol/public-suffix.ts";
export { checkProxy } from "./proxy.ts";
export { certificatesIn } from "./trust-anchors.ts";
export { checkEgressUrl, requireEgressUrl } from "./url.ts";

/** Which addresses may be reached, and how long and how large an answer may be. */
export interface EgressOptions {
  /** Permits http and any port on 127.0.0.0/8, ::1 and `localhost`. For tests and sandboxes. */
  readonly allowLoopback: boolean;
  /**
   * Private networks that `fetch`, never `fetchUntrusted`, may reach: https, any port, any name
   * that resolves wholly into them.
   */
  readonly allowCidrs: readonly string[];
  /**
   * URLs that the operator wrote down. At their hosts `fetch`, never `fetchUntrusted`, may ask any
   * https port; elsewhere only 443.
   */
  readonly operatorUrls?: readonly string[];
  /**
   * The URL of a forward proxy, `http://user:password@proxy.example:3128`. `fetch` asks it for the
   * names of the public internet; `fetchUntrusted` then reaches nothing, because no address could
   * be checked.
   */
  readonly proxy?: Secret;
  /** For the whole exchange, from the call to the last byte. */
  readonly timeoutMs: number;
  /** PEM certificates trusted in addition to the default roots. */
  readonly caPem?: string;
  /** Default 262144, counted before and after decoding. */
  readonly maxBodyBytes?: number;
  /** The limit for the answers of all calls under way, in bytes. Default `ANSWER_BOUNDS`. */
  readonly answerBounds?: AnswerBounds;
  /** Hosts that `fetchUntrusted` must not reach: our own public name, our own infrastructure. */
  readonly refusedHosts?: readonly string[];
}

/** Outbound calls, to endpoints that are trusted and to those that are not. */
export interface Egress {
  /** For endpoints that the operator or the registry vouches for. */
  readonly fetch: Fetch;
  /**
   * For endpoints from request parameters, and from metadata found through them. Uses its own
   * connections.
   */
  readonly fetchUntrusted: Fetch;
  /**
   * For hosts under the domain of an entry that a request completed, and what their metadata names.
   * Without a proxy it is `fetchUntrusted`; with one it asks that for names of the public internet,
   * and reaches no network of the operator. Absent: `fetchUntrusted`.
   */
  readonly fetchTenant?: Fetch;
  /** Waits for running exchanges, then closes every connection. */
  close(): Promise<void>;
}

/** The network beneath: connections, names, waiting times. Tests replace it. */
export interface EgressDeps {
  readonly buildConnector: typeof buildConnector;
  readonly lookup: Lookup;
  readonly lookupUntrusted: Lookup;
  readonly connectTimeoutMs: number;
  /** How long a failed untrusted call is delayed, so that its timing reveals little. */
  readonly jitterMs: () => number;
}

/**
 * The network of the process: the system's resolver for `fetch`, DNS alone for `fetchUntrusted`, 3
 * s to connect.
 */
export const REAL_NETWORK: EgressDeps = {
  buildConnector,
  lookup: systemLookup,
  lookupUntrusted: dnsLookup,
  connectTimeoutMs: 3_000,
  jitterMs: () => randomInt(200),
};

const MAX_POOLS = 256;
/** The endpoints of the vendors in use. */
const MAX_URLS = 1_000;
const MAX_HEADER_BYTES = 32_768;
const IDLE_MS = 4_000;

/** @throws Error when `allowCidrs`, `caPem` or `proxy` is malformed */
export function createEgress(options: EgressOptions, deps: EgressDeps = REAL_NETWORK): Egress {
  const { allowLoopback, allowCidrs, operatorUrls = [], caPem, timeoutMs, maxBodyBytes = 262_144 } = options;
  const secureContext = createTrust(caPem);
  const proxy = proxyOf(options.proxy);
  const limits = { timeoutMs, maxBodyBytes, hold: createAnswerBudget(options.answerBounds ?? ANSWER_BOUNDS) };

  const trusted = createRealm(
    {
      ...egressUrlRules({ allowLoopback, allowCidrs }),
      isOperatorsHost: operatorsHosts(operatorUrls),
      refusedHosts: new Set(),
    },
    { ...deps, secureContext, proxy },
    limits,
  );
  const untrusted = createRealm(
    { allowLoopback, refusedHosts: new Set(options.refusedHosts) },
    { ...deps, secureContext, lookup: deps.lookupUntrusted },
    limits,
  );
  const slowly =
    (fetch: Fetch): Fetch =>
    async (input, init) => {
      try {
        return await fetch(input, init);
      } catch (error) {
        //= bar#EG-9
        await sleep(deps.jitterMs());
        throw error;
      }
    };
  const fetchUntrusted = slowly(proxy === undefined ? untrusted.fetch : refuseBehindProxy);
  const ofTenants =
    proxy === undefined
      ? undefined
      : createRealm(
          { allowLoopback: false, refusedHosts: new Set(options.refusedHosts) },
          { ...deps, secureContext, proxy },
          limits,
        );
  return {
    fetch: trusted.fetch,
    fetchUntrusted,
    fetchTenant: ofTenants === undefined ? fetchUntrusted : slowly(ofTenants.fetch),
    close: async () => {
      await Promise.all([trusted.close(), untrusted.close(), ofTenants?.close()]);
    },
  };
}

/** The proxy resolves names, so that no address of a request's name can be checked. */
//= bar#EG-11
async function refuseBehindProxy(): Promise<never> {
  throw egressError("refused", false, "named by a request, and not for the proxy");
}

/** With one budget for all realms. */
type Limits = Pick<ExchangeLimits, "timeoutMs" | "maxBodyBytes"> & { readonly hold: () => HeldAnswer };

interface Origin {
  readonly pool: Pool;
  readonly turns: Turns;
}

/** One set of pools under one set of rules. */
function createRealm(
  policy: AddressPolicy,
  deps: ConnectorDeps,
  limits: Limits,
): { fetch: Fetch; close: () => Promise<void> } {
  // `max` would set aside memory for all entries from the start; a size of one each does not.
  const origins = new LRUCache<string, Origin>({
    maxSize: MAX_POOLS,
    sizeCalculation: () => 1,
    memoMethod: (origin) => ({ pool: createPool(new URL(origin), policy, deps), turns: createOriginTurns(origin) }),
    dispose: (origin, _, reason) => {
      if (reason === "evict") void closeOrigin(origin);
    },
  });
  let closed = false;

  // What a text means does not change; addresses are checked at each connection.
  const passed = new LRUCache<string, URL>({ maxSize: MAX_URLS, sizeCalculation: () => 1 });

  /** @throws EgressError refused */
  const requirePlain = (input: string | URL): URL => {
    const known = typeof input === "string" ? passed.get(input) : undefined;
    if (known !== undefined) return known;
    //= bar#EG-7
    const url = typeof input === "string" ? parseEgressUrl(input) : input;
    if (url === undefined) throw egressError("refused", false, "not a plain absolute URL");
    const fault = urlFault(url, policy);
    if (fault !== undefined) throw egressError("refused", false, `${url.host}: ${fault}`);
    // A query may hold a token.
    if (typeof input === "string" && url.search === "") passed.set(input, url);
    return url;
  };

  const fetch: Fetch = async (input, init = {}) => {
    const url = requirePlain(input);
    const request = readRequest(url, init);
    if (closed) throw egressError("connect", false, `${url.origin}: shutting down`);
    const { pool, turns } = origins.memo(url.origin);
    try {
      const turn = { timeoutMs: limits.timeoutMs, signal: request.signal };
      const answer = await turns.run(callerName(), turn, (timeoutMs) =>
        exchange(pool, request, { ...limits, timeoutMs, origin: url.origin, held: limits.hold() }),
      );
      return toResponse(answer, decodeBody(answer, limits.maxBodyBytes, url.origin));
    } catch (error) {
      // A status or header that a Response cannot have.
      throw isEgressError(error) ? error : egressError("unreadable", true, `${url.origin}: unreadable response`);
    }
  };

  const close = async (): Promise<void> => {
    closed = true;
    const open = [...origins.values()];
    origins.clear();
    await Promise.all(open.map(closeOrigin));
  };
  return { fetch, close };
}

/** Calls under way, and calls waiting for their turn, still run to their end. */
async function closeOrigin({ pool, turns }: Origin): Promise<void> {
  await turns.idle();
  await pool.close();
}

//= bar#EG-11
function createPool(url: URL, policy: AddressPolicy, deps: ConnectorDeps): Pool {
  return new Pool(url.origin, {
    connect: createGuardedConnector(url, policy, deps),
    connections: CONNECTIONS_PER_ORIGIN,
    pipelining: 1,
    allowH2: false,
    useMilo: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // A server closes idle connections at any time; a POST written to a closed one is lost and must
    // not be repeated.
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    // The exchange has a separate deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
