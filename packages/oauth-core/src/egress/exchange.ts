/**
 * One request and its complete response on a pool, within a time and a size. Tracks whether the
 * request was written. index.ts chooses the pool; messages.ts undoes the content coding.
 */
import type { Dispatcher } from "undici";
import type { HeldAnswer } from "./answer-budget.ts";
import { createByteCollector } from "../mechanics/byte-collector.ts";
import { type EgressError, type EgressErrorKind, egressError, isEgressError } from "./errors.ts";

export interface ExchangeRequest {
  readonly path: string;
  readonly method: string;
  /** Names and values, alternating. */
  readonly headers: string[];
  readonly body: string | Uint8Array | null;
  readonly signal: AbortSignal | undefined;
}

export interface ExchangeLimits {
  /** What the process may hold of this answer. */
  readonly held: HeldAnswer;
  /** From the call to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  /** Where the request goes, for `detail`. */
  readonly origin: string;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case; a list if a header came more than once. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As received, before content decoding. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** More than any server sends before its answer. */
const MAX_INFORMATIONAL = 10;

/**
 * Sends exactly once: a second attempt of the pool to write the same request is refused.
 *
 * @throws EgressError
 */
//= bar#EG-8
export function exchange(pool: Dispatcher, request: ExchangeRequest, limits: ExchangeLimits): Promise<Answer> {
  const { path, method, headers, body: sent, signal } = request;
  return new Promise((resolve, reject) => {
    const body = createByteCollector(limits.maxBodyBytes);
    let informational = 0;
    let answer: Omit<Answer, "body"> | undefined;
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;

    const settle = (): boolean => {
      if (settled) return false;
      settled = true;
      clearTimeout(timer);
      limits.held.done();
      signal?.removeEventListener("abort", onAbort);
      return true;
    };
    const fail = (kind: EgressErrorKind, what: string): EgressError => {
      const error = egressError(kind, controller !== undefined, `${limits.origin}: ${what}`);
      if (settle()) reject(error);
      return error;
    };
    const giveUp = (kind: EgressErrorKind, what: string): void => {
      const error = fail(kind, what);
      // A connection with an incomplete response is closed, not reused.
      controller?.abort(error);
    };
    const onAbort = (): void => giveUp("timeout", "aborted by the caller");
    const timer = setTimeout(giveUp, limits.timeoutMs, "timeout", `no complete response within ${limits.timeoutMs} ms`);
    signal?.addEventListener("abort", onAbort, { once: true });

    pool.dispatch(
      { path, method, headers, body: sent },
      {
        // Called just before the first byte is written, on a connection that is open.
        onRequestStart(started) {
          //= bar#VR-5
          if (settled || controller !== undefined) throw new Error("given up");
          controller = started;
        },
        onResponseStart(_controller, status, responseHeaders) {
          //= rfc9110#15.2
          if (status >= 200) answer = { status, headers: responseHeaders };
          else if (status === 101) giveUp("unreadable", "another protocol, which was not asked for");
          else if ((informational += 1) > MAX_INFORMATIONAL) giveUp("unreadable", "informational answers without end");
        },
        onResponseData(_controller, chunk) {
          const fault = body.add(chunk);
          if (!limits.held.grow(chunk.length))
            giveUp("broken", "answers under way take all the room there is for them");
          else if (fault === "too_large") giveUp("too_large", `body exceeds ${limits.maxBodyBytes} bytes`);
          else if (fault === "chopped") giveUp("too_large", "body in too many chunks");
        },
        onResponseEnd() {
          if (answer !== undefined && settle()) resolve({ ...answer, body: body.bytes() });
        },
        onResponseError(_controller, error) {
          if (isEgressError(error)) fail(error.kind, error.detail);
          else fail(kindOf(error, controller !== undefined), causeOf(error));
        },
      },
    );
  });
}

function kindOf(error: Error, sent: boolean): EgressErrorKind {
  const code = codeOf(error);
  if (code === "UND_ERR_INVALID_ARG") return "refused";
  if (!sent) return "connect";
  if (code === "UND_ERR_HEADERS_OVERFLOW") return "too_large";
  return isUnreadable(error, code) ? "unreadable" : "broken";
}

/** undici's words for an answer that it will not read: `100 Continue`, and an upgrade. */
const UNREAD_ANSWERS: ReadonlySet<string> = new Set(["bad response", "bad upgrade"]);

/**
 * Whether the bytes that came are wrong, and not too few: the parser never blames what is missing
 * for anything but an early end.
 */
function isUnreadable(error: Error, code: string): boolean {
  if (error.name === "HTTPParserError") return parserCodeOf(error) !== "HPE_INVALID_EOF_STATE";
  return code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" || UNREAD_ANSWERS.has(error.message);
}

/**
 * The code alone: messages and other members of foreign errors can contain bytes of the response.
 */
function causeOf(error: Error): string {
  if (error.name === "HTTPParserError") return parserCodeOf(error);
  const code = codeOf(error);
  return UNREAD_ANSWERS.has(error.message) ? `${code}, ${error.message}` : code;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** undici keeps the parser's reason, one of a fixed list, and loses its code. */
const PARSER_CODES: readonly (readonly [reason: RegExp, code: string])[] = [
  [/\(Invalid EOF state\)$/, "HPE_INVALID_EOF_STATE"],
  [/expected CR\b/, "HPE_CR_EXPECTED"],
  [/expected LF\b/i, "HPE_LF_EXPECTED"],
  [/chunk/i, "HPE_INVALID_CHUNK_SIZE"],
  [/\((?:Transfer-Encoding can't|Invalid `Transfer-Encoding`)/, "HPE_INVALID_TRANSFER_ENCODING"],
  [/Content-Length/, "HPE_INVALID_CONTENT_LENGTH"],
  [/header/, "HPE_INVALID_HEADER_TOKEN"],
  [/status/, "HPE_INVALID_STATUS"],
  [/version|dot\)/, "HPE_INVALID_VERSION"],
  [/\(Expected HTTP\//, "HPE_INVALID_CONSTANT"],
];

function parserCodeOf(error: Error): string {
  const code = codeOf(error);
  if (code !== error.name) return code;
  return PARSER_CODES.find(([reason]) => reason.test(error.message))?.[1] ?? code;
}
