/**
 * The broker of a fixture behind a real port, and requests to it byte for byte: no client
 * normalizes paths or headers.
 */
import { Agent, type IncomingMessage, request } from "node:http";
import { listen } from "@oauth-broker/service";
import { onTestFinished } from "vitest";
import type { Exchange } from "./names.ts";
import type { Fixture } from "./fixture.ts";

export interface WireRequest {
  readonly method?: string;
  /** With the query, exactly as it goes over the wire: printable ASCII. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

/**
 * The status when the connection ended without one: Node does that to a request whose head has no
 * end.
 */
export const CUT = 0;

export async function openWire(
  fixture: Fixture,
): Promise<{ readonly port: number; send(request: WireRequest): Promise<Exchange> }> {
  const listening = await listen(fixture.broker.app, { host: "127.0.0.1", port: 0 });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  onTestFinished(async () => {
    agent.destroy();
    await listening.stop(0);
  });
  const { port } = listening;
  return {
    port,
    send: async ({ method = "GET", path, headers = {}, body }) => {
      const { promise, resolve } = Promise.withResolvers<Exchange>();
      const sent = request({
        host: "127.0.0.1",
        port,
        agent,
        method,
        path,
        headers: { accept: "text/html", ...headers },
      });
      let answered: Omit<Exchange, "body"> = { method, url: path, status: CUT, headers: new Headers() };
      let text = "";
      const end = (): void => resolve({ ...answered, body: text });
      sent.on("response", (answer: IncomingMessage) => {
        answered = { method, url: path, status: answer.statusCode ?? CUT, headers: headersOf(answer) };
        answer.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        answer.on("end", end).on("error", end);
      });
      sent.on("error", end).end(body);
      return promise;
    },
  };
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  return headers;
}
