/**
 * A server on loopback that must never receive a request: it records every request that reaches it,
 * credentials included.
 */
import { startScriptedVendor } from "@oauth-broker/simulators";

export interface Trap {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Method, path and the Authorization header of each. */
  requests(): readonly string[];
  close(): Promise<void>;
}

export async function startTrap(): Promise<Trap> {
  const { url, received, close } = await startScriptedVendor({ "*": { body: [] } });
  return {
    url,
    requests: () =>
      received.map(({ method, path, query, headers }) => {
        const target = query.size === 0 ? path : `${path}?${query.toString()}`;
        return `${method} ${target} ${headers.authorization ?? "(no credentials)"}`;
      }),
    close,
  };
}
