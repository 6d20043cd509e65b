/**
 * A network for egress tests that resolves names from a table and never opens a socket: it records
 * each address Node would have connected to, taken from the connection's own look-up, and refuses.
 */
import { isIP } from "node:net";
import type { EgressDeps } from "../../egress/index.ts";

export interface RecordingNetwork {
  readonly deps: EgressDeps;
  /** Addresses a socket would have been opened to. */
  readonly sockets: string[];
  /** Names that were looked up. */
  readonly names: string[];
}

const PUBLIC_ADDRESS = "8.8.8.8";

/** @param answers addresses by name; any other name resolves to a public address */
export function recordingNetwork(answers: ReadonlyMap<string, readonly string[]> = new Map()): RecordingNetwork {
  const sockets: string[] = [];
  const names: string[] = [];
  const lookup: EgressDeps["lookup"] = async (name) => {
    names.push(name);
    return (answers.get(name) ?? [PUBLIC_ADDRESS]).map((address) => ({ address, family: isIP(address) }));
  };
  const buildConnector: EgressDeps["buildConnector"] = (options) => (target, callback) => {
    const unreachable = new Error("this network has no sockets");
    if (isIP(target.hostname) !== 0) {
      sockets.push(target.hostname);
      return callback(unreachable, null);
    }
    const ownLookup = options !== undefined && "lookup" in options ? options.lookup : undefined;
    if (ownLookup === undefined) throw new Error("the connector has no look-up of its own");
    return ownLookup(target.hostname, { all: true }, (error, found) => {
      if (error === null && Array.isArray(found)) sockets.push(...found.map(({ address }) => address));
      callback(error ?? unreachable, null);
    });
  };
  return {
    deps: { buildConnector, lookup, lookupUntrusted: lookup, connectTimeoutMs: 1_000, jitterMs: () => 0 },
    sockets,
    names,
  };
}
