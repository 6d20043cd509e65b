/**
 * Undoes the content coding of an answer, never growing beyond the limit. We ask for `identity`; some vendors compress all the same.
 */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from "node:zlib";
import { type EgressError, egressError } from "./errors.ts";
import type { Answer } from "./exchange.ts";

type Bytes = Buffer<ArrayBuffer>;
type Decoder = (data: Bytes, options: ZlibOptions) => Bytes;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  // rfc9110#8.4.1.2 means the zlib format; some servers send raw deflate, which never starts with its 4-bit method 8.
  deflate: (data, options) =>
    ((data[0] ?? 0) & 0x0f) === 8 ? inflateSync(data, options) : inflateRawSync(data, options),
  br: brotliDecompressSync,
};

/**
 * @param origin for `detail`
 * @throws EgressError too_large, or broken for damaged data, and for codings we do not know or several at once
 */
//= bar#EG-8
export function decodeBody({ chunks, headers }: Answer, maxBodyBytes: number, origin: string): Bytes {
  const data = Buffer.concat(chunks);
  const name = String(headers["content-encoding"] ?? "")
    .trim()
    .toLowerCase();
  if (data.length === 0 || name === "" || name === "identity") return data;
  const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (decode === undefined) throw egressError("broken", true, `${origin}: unknown content coding`);
  try {
    return decode(data, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    throw decodingError(error, origin);
  }
}

function decodingError(error: unknown, origin: string): EgressError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return egressError(
    code === "ERR_BUFFER_TOO_LARGE" ? "too_large" : "broken",
    true,
    `${origin}: decoding failed, ${code}`,
  );
}
