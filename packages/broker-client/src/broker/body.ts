/**
 * Reads the broker's answer under a limit: a broker in the wrong hands, or what answers in its place,
 * must not take the memory of this program. By the rule of oauth-core's byte collector, which needs
 * Node.js and this folder does not.
 */
import { BrokerClientError } from "../error.ts";

/** A vendor's largest answer is 256 KiB; encrypted, and with what the broker adds, it is smaller than this. */
const MOST_BYTES = 1024 * 1024;
const FEW_CHUNKS = 256;
const BYTES_PER_CHUNK = 256;

/** @throws BrokerClientError invalid_response for a body that is too long, or comes in too many chunks */
export async function readBody({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
    size += next.value.length;
    chunks.push(next.value);
    if (size <= MOST_BYTES && chunks.length <= FEW_CHUNKS + Math.floor(size / BYTES_PER_CHUNK)) continue;
    // Not awaited: what is left of the answer does not matter.
    void reader?.cancel().catch(() => undefined);
    throw new BrokerClientError("invalid_response", "The broker's response is too large", { reason: "too_large" });
  }
  return joined(chunks, size);
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
