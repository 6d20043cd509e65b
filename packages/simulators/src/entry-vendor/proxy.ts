/**
 * A listener on loopback that stands for the hosts of simulated vendors: the Host header says which
 * vendor is asked. A host that no vendor here has gets 421, as from a server that is not the one.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "../listen.ts";
import type { EntryVendor } from "./vendor.ts";

/** The hosts of the vendors that are being served. */
export interface EntryProxy {
  readonly port: number;
  /** In place of those served before. Their hosts are distinct. */
  serve(vendors: readonly EntryVendor[]): void;
  /** Hosts that were asked for and are none of a vendor served, since the last `serve`. */
  strangers(): readonly string[];
  close(): Promise<void>;
}

export async function startEntryProxy(): Promise<EntryProxy> {
  const { server, port, close } = await listen(0);
  let served: readonly EntryVendor[] = [];
  let strangers = new Set<string>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const host = request.headers.host ?? "";
    const body = (await buffer(request)).toString("utf8");
    const vendor = served.find(({ hosts }) => hosts.has(host));
    if (vendor === undefined) {
      strangers.add(host);
      response.writeHead(421).end();
      return;
    }
    const url = new URL(request.url ?? "/", `https://${host}`);
    const { method = "GET" } = request;
    const made = await vendor.handle({ method, url, headers: new Headers(headersOf(request)), body });
    if (made === undefined) {
      response.destroy();
      return;
    }
    response.writeHead(made.status, Object.fromEntries(made.headers));
    response.end(Buffer.from(await made.arrayBuffer()));
  };
  server.on("request", (request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  return {
    port,
    serve: (vendors) => {
      served = vendors;
      strangers = new Set();
    },
    strangers: () => [...strangers],
    close,
  };
}

function headersOf({ headers }: IncomingMessage): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []));
}
