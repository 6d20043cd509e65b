/**
 * Collects a body that arrives in chunks whose number and size a stranger chooses. A body in
 * one-byte chunks would cost hundreds of times its size: it is refused, and what is kept is one
 * buffer, or the only chunk. Used by all that reads bodies: egress/exchange.ts, the
 * service package, and mcp-auth.
 */

const FEW_CHUNKS = 256;
const BYTES_PER_CHUNK = 256;

/**
 * Whether a body of so many bytes has arrived in more chunks than an honest sender makes: 256, and
 * one more for each 256 bytes. Networks carry packets of 536 bytes and more.
 */
//= bar#HT-1
export function isChopped(chunks: number, bytes: number): boolean {
  return chunks > FEW_CHUNKS + Math.floor(bytes / BYTES_PER_CHUNK);
}

/** Why a body is not collected. */
export type BodyFault = "too_large" | "chopped";

/** One body. */
export interface ByteCollector {
  /** @returns why the body, with this chunk, is refused: the chunk is not kept */
  add(chunk: Uint8Array): BodyFault | undefined;
  /** @returns everything that was added */
  bytes(): Uint8Array<ArrayBuffer>;
}

/** @param mostBytes a body of more is refused */
export function createByteCollector(mostBytes: number): ByteCollector {
  let buffer = new Uint8Array(0);
  let size = 0;
  let chunks = 0;
  return {
    add(chunk) {
      chunks += 1;
      const needed = size + chunk.length;
      if (needed > mostBytes) return "too_large";
      //= bar#HT-1
      if (isChopped(chunks, needed)) return "chopped";
      if (size === 0 && isWhole(chunk)) buffer = chunk;
      else {
        if (needed > buffer.length) buffer = grown(buffer, size, Math.min(Math.max(needed, 2 * size), mostBytes));
        buffer.set(chunk, size);
      }
      size = needed;
      return undefined;
    },
    bytes: () => buffer.subarray(0, size),
  };
}

/** Not a view of something larger, which would be held as well. */
function isWhole(chunk: Uint8Array): chunk is Uint8Array<ArrayBuffer> {
  return chunk.buffer instanceof ArrayBuffer && chunk.byteLength === chunk.buffer.byteLength;
}

function grown(buffer: Uint8Array, size: number, capacity: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(capacity);
  larger.set(buffer.subarray(0, size));
  return larger;
}
