/**
 * The broker's own egress on a network where every host is the proxy of the simulated vendors: URL
 * rules, limits and turns are the real ones, TLS and names are not there.
 */
import { connect } from "node:net";
import { createEgress, type Egress, REAL_NETWORK } from "@oauth-broker/oauth-core/egress";

/** From the documentation range: no server has it, and the egress accepts a public address only. */
const PUBLIC_ADDRESS = "93.184.216.34";

/**
 * @param port of the proxy on 127.0.0.1
 * @returns an egress for all brokers of a process; each gets it without the right to close it
 */
export function createLoopbackEgress(port: number): Egress {
  return createEgress(
    { allowLoopback: false, allowCidrs: [], timeoutMs: 30_000 },
    {
      ...REAL_NETWORK,
      jitterMs: () => 0,
      buildConnector: () => (_, callback) => {
        const socket = connect({ port, host: "127.0.0.1", noDelay: true });
        Object.defineProperty(socket, "remoteAddress", { value: PUBLIC_ADDRESS });
        socket.once("error", (error) => callback(error, null));
        socket.once("connect", () => callback(null, socket));
      },
    },
  );
}
