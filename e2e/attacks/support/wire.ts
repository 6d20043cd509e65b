/**
 * The broker of a fixture behind a real port, and requests to it byte for byte: no client
 * normalizes paths or headers.
 */
import { listen } from "@oauth-broker/service";
import { onTestFinished } from "vitest";
import { exchange } from "../../support/raw-http.ts";
import type { Exchange } from "./names.ts";
import type { Fixture } from "./fixture.ts";

export interface WireRequest {
  readonly method?: string;
  /** With the query, exactly as it goes over the wire: printable ASCII. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * The status when the connection ended without one: Node does that to a request whose head has no
 * end.
 */
export const CUT = 0;

export async function openWire(fixture: Fixture) {
  const { port, stop } = await listen(fixture.broker.app, { host: "127.0.0.1", port: 0 });
  onTestFinished(async () => stop(0));
  const send = async ({ method = "GET", path, headers = {}, body }: WireRequest): Promise<Exchange> => {
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const all = { host: `127.0.0.1:${port}`, accept: "text/html", ...length, ...headers, connection: "close" };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    const bytes = [`${method} ${path} HTTP/1.1`, ...lines, "", body ?? ""].join("\r\n");
    const { status, text } = await exchange({ port, bytes });
    const [head = "", ...rest] = Buffer.from(text, "latin1").toString().split("\r\n\r\n");
    const pairs = head.split("\r\n").slice(1);
    return {
      method,
      url: path,
      status,
      headers: new Headers(pairs.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string])),
      body: rest.join("\r\n\r\n"),
    };
  };
  return { send };
}
