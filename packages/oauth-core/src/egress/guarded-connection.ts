/**
 * The check between a name and a socket. Wraps undici's connector, so that every address is checked
 * at the moment it is used: literals before the connection, each DNS answer inside the connection's
 * own look-up, the peer afterwards. TLS is verified against trust-anchors.ts, always.
 */
import { isIP, type LookupFunction, type Socket } from "node:net";
import type { SecureContext } from "node:tls";
import type { buildConnector } from "undici";
import { isLoopbackAddress, isPrivateName, isPublicAddress } from "./address-ranges.ts";
import { type EgressError, egressError } from "./errors.ts";
import type { Lookup } from "./lookup.ts";
import { type EgressProxy, openTunnel, wayTo } from "./proxy.ts";
import { bareHost, type EgressUrlRules, isLoopbackHost } from "./url.ts";

export interface AddressPolicy extends EgressUrlRules {
  /** Hosts that must never be reached: our own public name, our own infrastructure. */
  readonly refusedHosts: ReadonlySet<string>;
}

const LOOPBACK = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/** The host without brackets; the port is empty for the scheme's default. */
type Target = Readonly<Pick<URL, "hostname" | "protocol" | "port">>;

export interface ConnectorDeps {
  readonly buildConnector: typeof buildConnector;
  readonly lookup: Lookup;
  readonly secureContext: SecureContext;
  /** Covers look-up, TCP and TLS together, and the proxy's answer. */
  readonly connectTimeoutMs: number;
  readonly proxy?: EgressProxy | undefined;
}

/**
 * A connector for the undici pool of one origin, which reaches admitted addresses only.
 * Until it answers, no byte of a request is written; refusals are EgressErrors with `sent: false`.
 */
export function createGuardedConnector(
  origin: URL,
  policy: AddressPolicy,
  deps: ConnectorDeps,
): buildConnector.connector {
  const target: Target = { hostname: bareHost(origin), protocol: origin.protocol, port: origin.port };
  const connect = deps.buildConnector({
    // undici's own timeout also ends what our timer below has abandoned, but up to a second late.
    timeout: deps.connectTimeoutMs,
    allowH2: false,
    autoSelectFamily: true,
    lookup: guardedLookup(target, policy, deps.lookup),
    //= bar#EG-10
    rejectUnauthorized: true,
    secureContext: deps.secureContext,
  });
  const tunnelled = deps.proxy === undefined ? undefined : wayThrough(deps.proxy, target, policy);
  return (options, callback) => {
    const refused = refusal(target, policy) ?? (tunnelled === "refused" ? literalRefused(target) : undefined);
    if (refused !== undefined) return callback(refused, null);
    let late = false;
    let giveUp: (() => void) | undefined;
    const timer = setTimeout(() => {
      late = true;
      giveUp?.();
      callback(
        egressError("connect", false, `${target.hostname}: no connection within ${deps.connectTimeoutMs} ms`),
        null,
      );
    }, deps.connectTimeoutMs);
    const end: buildConnector.Callback = (...[error, socket]) => {
      clearTimeout(timer);
      if (late) return drop(socket);
      if (error !== null) return callback(error, null);
      // Its peer is the proxy, and the name is what was vouched for.
      if (typeof tunnelled === "object") return callback(null, socket);
      const peer = socket.remoteAddress;
      //= bar#EG-4
      if (peer !== undefined && admits(peer, target, policy)) return callback(null, socket);
      drop(socket);
      return callback(
        egressError("refused", false, `${target.hostname} led to ${peer ?? "no peer"}, which is not admitted`),
        null,
      );
    };
    if (typeof tunnelled !== "object") return connect(options, end);
    const through = { hostname: target.hostname, port: Number(target.port === "" ? 443 : target.port) };
    giveUp = openTunnel(tunnelled, through, deps.secureContext, (...[error, socket]) => {
      if (error !== null) return end(error, null);
      return connect({ ...options, httpSocket: socket }, end);
    });
  };
}

/** @returns the proxy, for a name that it is asked for */
function wayThrough(
  proxy: EgressProxy,
  { hostname }: Target,
  policy: AddressPolicy,
): EgressProxy | "refused" | undefined {
  if (policy.isAllowedNetwork?.(hostname) === true) return undefined;
  const way = wayTo(hostname);
  return way === "proxy" ? proxy : way === "direct" ? undefined : "refused";
}

function literalRefused({ hostname }: Target): EgressError {
  return egressError("refused", false, `${hostname} is an address, and the proxy is asked for names alone`);
}

function drop(socket: Socket | null): void {
  socket?.on("error", () => undefined).destroy();
}

/** Literals and names that are refused before any look-up or connection. */
function refusal(target: Target, policy: AddressPolicy): EgressError | undefined {
  const { hostname } = target;
  //= bar#EG-5
  if (policy.refusedHosts.has(hostname)) return egressError("refused", false, `${hostname} is one of our own hosts`);
  //= bar#EG-1
  if (isIP(hostname) === 0 || admits(hostname, target, policy)) return undefined;
  return egressError("refused", false, `${hostname} is not an admitted address`);
}

/**
 * The look-up a connection uses: all addresses of the answer must be admitted, and only these are
 * connected to.
 */
//= bar#EG-4
export function guardedLookup(target: Target, policy: AddressPolicy, lookup: Lookup): LookupFunction {
  // DNS does not decide what `localhost` resolves to (rfc6761#6.3).
  const resolve = isLoopbackHost(target.hostname) ? async () => LOOPBACK : lookup;
  return (host, { all }, callback) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses;
        const bad = addresses.find(({ address }) => !admits(address, target, policy));
        if (first === undefined || bad !== undefined) {
          const detail = `${host} resolves to ${bad?.address ?? "nothing"}, which is not admitted`;
          return callback(egressError("refused", false, detail), "", 0);
        }
        // Node asks for all addresses when it races address families.
        return all === true ? callback(null, [...addresses]) : callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, "", 0),
    );
  };
}

function admits(address: string, { hostname, protocol, port }: Target, policy: AddressPolicy): boolean {
  if (policy.allowLoopback && isLoopbackHost(hostname)) return isLoopbackAddress(address);
  if (protocol !== "https:") return false;
  if (policy.isAllowedNetwork?.(address) === true) return true;
  if (isIP(hostname) === 0 && isPrivateName(hostname)) return false;
  const mayUsePort = port === "" || port === "443" || policy.isOperatorsHost?.(hostname) === true;
  //= bar#EG-7
  return mayUsePort && isPublicAddress(address);
}
