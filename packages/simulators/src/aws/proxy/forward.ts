/** Forwards a request to the engine: request and response complete, and unchanged but for a body that was given. */
import { once } from "node:events";
import { request as connect, type Agent, type IncomingMessage } from "node:http";
import { readBody } from "../request-body.ts";

export interface EngineAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Twice what a page of DynamoDB may have. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Headers of one connection, not of the message. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

/**
 * @throws Error when the engine cannot be reached, or closes the connection before its response is
 *   complete
 */
export async function forward(
  request: IncomingMessage,
  body: Buffer,
  engine: { readonly url: string; readonly agent: Agent },
): Promise<EngineAnswer> {
  const sent = connect(new URL(request.url ?? "/", engine.url), {
    method: request.method,
    headers: { ...messageHeaders(request), "content-length": String(body.length) },
    agent: engine.agent,
  });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const answerBody = await readBody(answer, MAX_ANSWER_BYTES);
  if (answerBody === undefined) throw new Error("The engine's answer is not complete, or too long");
  return { status: answer.statusCode ?? 502, headers: messageHeaders(answer), body: answerBody };
}

function messageHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      OF_THE_CONNECTION.has(name) || value === undefined ? [] : [[name, String(value)]],
    ),
  );
}
