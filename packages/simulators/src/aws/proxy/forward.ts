/** Forwards a request to the engine: request and response unchanged, but for a body that was given. */
import { once } from "node:events";
import { request as connect, type Agent, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";

/** Headers of one connection, not of the message. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

/**
 * @throws Error when the engine cannot be reached, or closes the connection before its response is
 *   complete
 */
export async function forward(
  request: IncomingMessage,
  body: string | Buffer,
  engine: { readonly url: string; readonly agent: Agent },
) {
  const sent = connect(new URL(request.url ?? "/", engine.url), {
    method: request.method,
    headers: { ...messageHeaders(request), "content-length": String(Buffer.byteLength(body)) },
    agent: engine.agent,
  });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 502, headers: messageHeaders(answer), body: await buffer(answer) };
}

function messageHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      OF_THE_CONNECTION.has(name) || value === undefined ? [] : [[name, String(value)]],
    ),
  );
}
