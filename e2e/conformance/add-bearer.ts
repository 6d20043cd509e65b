/**
 * A proxy on loopback that adds an Authorization header to requests without one, because the
 * conformance suite cannot send a token. Everything else passes unchanged, Host and Origin
 * included: the suite varies them to test the server.
 */
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { listen } from "../../packages/simulators/src/listen.ts";

/**
 * @param port to listen on, 127.0.0.1
 * @param target the port of the server on 127.0.0.1
 * @returns `use` sets the token; before, requests to `/mcp` are forwarded without one
 */
export async function startBearerProxy(port: number, target: number) {
  let bearer: string | undefined;
  const { server, close } = await listen(port);
  server.on("request", (incoming: IncomingMessage, answer: ServerResponse) => {
    const { method, url: path, headers } = incoming;
    const added = bearer === undefined || path !== "/mcp" ? {} : { authorization: `Bearer ${bearer}` };
    const outgoing = request({ host: "127.0.0.1", port: target, method, path, headers: { ...headers, ...added } });
    outgoing.on("response", (response) => {
      answer.writeHead(response.statusCode ?? 502, response.rawHeaders);
      answer.flushHeaders();
      pipeline(response, answer, () => undefined);
    });
    // A client that disconnects ends its request too, and a server that does so has no answer.
    answer.on("close", () => outgoing.destroy());
    outgoing.on("error", () => answer.destroy());
    pipeline(incoming, outgoing, () => undefined);
  });
  return { use: (accessToken: string) => void (bearer = accessToken), close };
}
