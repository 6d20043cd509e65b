/** An ingress on a port, in front of a server of the test. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { once } from "node:events";
import { defined, Secret } from "@oauth-broker/oauth-core";
import { listen as listenForTest } from "@oauth-broker/oauth-core/testing";
import { createLog, listen } from "@oauth-broker/service";
import { createIngress, freePort } from "../routes/ingress.ts";
import type { ForwardLimits } from "../ingress/forward.ts";
import type { Upstream } from "../ingress/authenticate.ts";

export const PLATFORM_TOKEN = "platform-token-of-the-tests";

export type TestIngress = Awaited<ReturnType<typeof startIngress>>;

export async function startIngress(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  over: Partial<Upstream> & { readonly limits?: ForwardLimits } = {},
) {
  const server = await listenForTest(createServer(handle));
  const target = { host: "127.0.0.1", port: server.port };
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const { limits, ...rest } = over;
  // The app must know its URL before it listens.
  const own = await freePort();
  const url = `http://127.0.0.1:${own}`;
  const upstream: Upstream = {
    connectorId: "notes",
    deploymentUrl: url,
    mode: "hosted",
    expose: ["/token", "/.well-known/*"],
    allowedOrigins: [],
    target,
    platformToken: new Secret(PLATFORM_TOKEN),
    ...rest,
  };
  const app = createIngress(upstream, { log, ...defined({ limits }) });
  const listening = await listen(app, { host: "127.0.0.1", port: own });
  return {
    url,
    /** The server behind it. */
    target,
    log: lines as readonly string[],
    stopServer: server.close,
    close: async () => {
      await server.close();
      await listening.stop(0);
    },
  };
}

/** Sends what fetch refuses to send: any Host, any path. */
export async function sendRaw(
  url: string,
  { body, ...options }: { path?: string; method?: string; headers?: Record<string, string>; body?: string },
) {
  const { hostname, port } = new URL(url);
  const outgoing = request({ hostname, port, agent: false, ...options });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks).toString("utf8") };
}
