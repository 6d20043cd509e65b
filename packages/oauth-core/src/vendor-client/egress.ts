/**
 * The only module that opens outbound connections. A `Fetch` that reaches public addresses over https and nothing else,
 * follows no redirect, keeps no cookies, knows no proxy, and gives up on answers that are too slow or too large.
 * Callers: vendor-client/*, through the `Fetch` port. Behind it: egress-connector.ts, egress-exchange.ts, egress-body.ts.
 */
import { randomInt } from "node:crypto";
import { lookup as dnsLookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createSecureContext, getCACertificates } from "node:tls";
import { buildConnector, Pool } from "undici";
import type { Fetch } from "../ports.ts";
import { createCidrMatcher } from "./addresses.ts";
import { decodeBody } from "./egress-body.ts";
import { type AddressPolicy, type ConnectorDeps, createGuardedConnector, type Lookup } from "./egress-connector.ts";
import { egressError, isEgressError } from "./egress-error.ts";
import { exchange } from "./egress-exchange.ts";
import { readRequest, toResponse } from "./egress-web.ts";
import { type EgressUrlRules, urlFault } from "./egress-url.ts";

export { type EgressError, type EgressErrorKind, isEgressError } from "./egress-error.ts";
export { requireEgressUrl } from "./egress-url.ts";

export interface EgressOptions {
  /** Permits http and any port on 127.0.0.0/8, ::1 and `localhost`. For tests and sandboxes. */
  readonly allowLoopback: boolean;
  /** Private networks that `fetch`, never `fetchUntrusted`, may reach: https, any port, any name that resolves wholly into them. */
  readonly allowCidrs: readonly string[];
  /** For the whole exchange, from the call to the last byte. */
  readonly timeoutMs: number;
  /** PEM certificates trusted besides the default roots. */
  readonly caPem?: string;
  /** Default 262144, counted before and after decoding. */
  readonly maxBodyBytes?: number;
  /** Hosts that `fetchUntrusted` must not reach: our own public name, our own infrastructure. */
  readonly refusedHosts?: readonly string[];
}

export interface Egress {
  /** For endpoints the operator or the registry vouches for. */
  readonly fetch: Fetch;
  /** For endpoints from request parameters and from metadata behind them. Its connections are its own. */
  readonly fetchUntrusted: Fetch;
  /** Waits for running exchanges, then closes every connection. */
  close(): Promise<void>;
}

export interface EgressDeps {
  readonly buildConnector: typeof buildConnector;
  readonly lookup: Lookup;
  /** How long a failed untrusted call is held back, so that its timing tells little. */
  readonly jitterMs: () => number;
}

const REAL: EgressDeps = {
  buildConnector,
  lookup: (host) => dnsLookup(host, { all: true }),
  jitterMs: () => randomInt(0, 200),
};

const MAX_POOLS = 256;
const MAX_CONNECTIONS_PER_ORIGIN = 50;
const MAX_CALLS_PER_ORIGIN = 1_000;
const MAX_HEADER_BYTES = 32_768;
const IDLE_MS = 4_000;

/**
 * @throws Error when `allowCidrs` or `caPem` is malformed
 */
export function createEgress(options: EgressOptions, deps: EgressDeps = REAL): Egress {
  const { allowLoopback, allowCidrs, caPem } = options;
  const connecting: ConnectorDeps = {
    ...deps,
    //= bar#EG-10
    secureContext: caPem === undefined ? undefined : createSecureContext({ ca: [...getCACertificates("default"), caPem] }),
  };
  const trusted = createRealm(
    { allowLoopback, allowCidrs },
    { allowLoopback, isAllowedNetwork: createCidrMatcher(allowCidrs), refusedHosts: new Set() },
    options,
    connecting,
  );
  const untrusted = createRealm(
    { allowLoopback },
    { allowLoopback, isAllowedNetwork: () => false, refusedHosts: new Set(options.refusedHosts) },
    options,
    connecting,
  );
  return {
    fetch: trusted.fetch,
    //= bar#EG-9
    fetchUntrusted: async (input, init) => {
      try {
        return await untrusted.fetch(input, init);
      } catch (error) {
        await sleep(deps.jitterMs());
        throw error;
      }
    },
    close: async () => {
      await Promise.all([trusted.close(), untrusted.close()]);
    },
  };
}

interface Origin {
  readonly pool: Pool;
  calls: number;
}

/** One set of pools under one set of rules. */
function createRealm(
  rules: EgressUrlRules,
  policy: AddressPolicy,
  { timeoutMs, maxBodyBytes = 262_144 }: EgressOptions,
  deps: ConnectorDeps,
): { fetch: Fetch; close: () => Promise<void> } {
  // Insertion order is order of use: the first entry is the one not used for longest.
  const origins = new Map<string, Origin>();

  const originOf = (url: URL): Origin => {
    const known = origins.get(url.origin);
    if (known !== undefined) origins.delete(url.origin);
    const origin = known ?? { pool: createPool(url, policy, deps), calls: 0 };
    origins.set(url.origin, origin);
    const [oldest] = origins;
    if (origins.size > MAX_POOLS && oldest !== undefined) {
      origins.delete(oldest[0]);
      void oldest[1].pool.close();
    }
    return origin;
  };

  const fetch: Fetch = async (input, init = {}) => {
    const url = typeof input === "string" ? URL.parse(input) : input;
    if (url === null) throw egressError("refused", false, "not an absolute URL");
    //= bar#EG-7
    const fault = urlFault(url, rules);
    if (fault !== undefined) throw egressError("refused", false, `${url.host}: ${fault}`);
    const request = readRequest(url, init);
    const origin = originOf(url);
    if (origin.calls >= MAX_CALLS_PER_ORIGIN) throw egressError("connect", false, `${url.origin}: too many calls under way`);
    origin.calls += 1;
    try {
      const answer = await exchange(origin.pool, request, { timeoutMs, maxBodyBytes, origin: url.origin });
      return toResponse(answer, decodeBody(answer, maxBodyBytes, url.origin));
    } catch (error) {
      throw isEgressError(error) ? error : egressError("broken", true, `${url.origin}: unreadable answer`);
    } finally {
      origin.calls -= 1;
    }
  };

  return {
    fetch,
    close: async () => {
      await Promise.all([...origins.values()].map(({ pool }) => pool.close()));
    },
  };
}

//= bar#EG-11
function createPool(url: URL, policy: AddressPolicy, deps: ConnectorDeps): Pool {
  return new Pool(url.origin, {
    connect: createGuardedConnector(url, policy, deps),
    connections: MAX_CONNECTIONS_PER_ORIGIN,
    pipelining: 1,
    allowH2: false,
    useMilo: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // A server closes idle connections when it likes; a POST written to a closed one is lost, and may not be repeated.
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    // The exchange has one deadline of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
