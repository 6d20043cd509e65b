/**
 * Ends a request whose body comes in far more chunks than an honest sender makes, also where nothing
 * reads it: each chunk costs a buffer of its own before a reader can refuse it.
 */
import type { IncomingMessage } from "node:http";
import { isChopped } from "../../mechanics/byte-collector.ts";

/** Call it before anything reads the request. The connection is reset: there is no one to answer. */
//= bar#HT-1
export function endChoppedBody(request: IncomingMessage): void {
  let chunks = 0;
  let bytes = 0;
  const { push } = request;
  request.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk === null) return push.call(request, chunk, encoding);
    chunks += 1;
    bytes += chunk.length;
    if (!isChopped(chunks, bytes)) return push.call(request, chunk, encoding);
    if (!request.socket.destroyed) {
      ignoreRest(request);
      request.socket.resetAndDestroy();
    }
    return false;
  };
}

type BodyCallback = (...received: unknown[]) => void;

interface Parser {
  [callback: number]: BodyCallback | undefined;
  readonly constructor: { readonly kOnBody?: number };
}

/**
 * What Node has read of the connection already, up to 64 KiB, would still be made into ten thousand
 * buffers, and hold up every other request for 30 ms. The parser makes none without this callback.
 * Node takes the parser back when the connection closes, and gives it to another one.
 *
 * Node does not document the parser: without it, or with another one, only time is lost.
 */
function ignoreRest({ socket }: IncomingMessage): void {
  const { parser } = socket as { parser?: Parser | null };
  const at = parser?.constructor.kOnBody;
  if (parser === undefined || parser === null || at === undefined) return;
  const onBody = parser[at];
  parser[at] = undefined;
  socket.once("close", () => {
    parser[at] = onBody;
  });
}
