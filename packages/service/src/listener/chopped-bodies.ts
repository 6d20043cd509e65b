/**
 * Ends a request whose body comes in far more chunks than an honest sender makes, also if
 * nothing reads it: each chunk costs its own buffer before a reader can refuse it.
 */
import type { IncomingMessage } from "node:http";
import { isChopped } from "@oauth-broker/oauth-core";
import { ignoreBody } from "./body-parser.ts";

/**
 * Call it before anything reads the request. The connection is reset: no caller is left to answer.
 */
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
      ignoreBody(request);
      request.socket.resetAndDestroy();
    }
    return false;
  };
}
