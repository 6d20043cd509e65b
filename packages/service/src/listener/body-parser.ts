/**
 * Keeps Node's parser from making a buffer of each chunk of a body that nothing will read. From
 * what it has received already, up to 64 KiB, it would make ten thousand, and hold up every other
 * request for 30 ms.
 */
import type { IncomingMessage } from "node:http";

type BodyCallback = (...received: unknown[]) => void;

interface Parser {
  [callback: number]: BodyCallback | undefined;
  readonly constructor: { readonly kOnBody?: number };
}

/**
 * The parser makes no buffer without this callback, and still finds the end of the body. It serves
 * further requests, and after the connection other connections: the callback must come back.
 *
 * Node does not document the parser: without it, or with another one, only time is lost.
 *
 * @returns a function that puts the callback back; the end of the connection does, too
 */
export function ignoreBody({ socket }: Pick<IncomingMessage, "socket">): () => void {
  const { parser } = socket as { parser?: Parser | null };
  const at = parser?.constructor.kOnBody;
  const onBody = at === undefined ? undefined : parser?.[at];
  if (parser === undefined || parser === null || at === undefined || onBody === undefined) return () => undefined;
  const restore = (): void => {
    //= bar#HT-1
    parser[at] = onBody;
    socket.off("close", restore);
  };
  parser[at] = undefined;
  // After Node's own listener, which takes the parser back, and before another connection gets it.
  socket.on("close", restore);
  return restore;
}
