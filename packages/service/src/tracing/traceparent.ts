/**
 * The header `traceparent` of W3C Trace Context, as a caller sends it. `tracestate` is not kept, and
 * neither header is ever sent on.
 */
import { randomUUID } from "node:crypto";

/** The caller's span: the parent of our span. */
export interface TraceParent {
  /** 32 hexadecimal digits in lower case, not all zero. */
  readonly traceId: string;
  /** 16 hexadecimal digits in lower case, not all zero. */
  readonly spanId: string;
  /** 0 to 255; the lowest bit: the caller records this trace. */
  readonly flags: number;
}

/**
 * Version, ids, flags, and what a later version may add. ff is not a version. Two headers come
 * joined by a comma, which no member has.
 */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[!-+\--~]{0,200})?$/;

/** @returns undefined for a header that is absent, or not valid in every character */
//= bar#OB-7
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags ?? "", 16) };
}

/** 32 hexadecimal digits, random but for the six bits that mark a UUID. */
export function newTraceId(): string {
  return randomUUID().replaceAll("-", "");
}
