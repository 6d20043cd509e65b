/** `Retry-After` of an answer of the broker, or of a proxy in front of it. */
import type { Clock } from "./ports.ts";

const MAX_SECONDS = 86_400;

/** IMF-fixdate, the form of RFC 850, and that of C's asctime, which names no zone and means GMT. */
const DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/;

/** @returns 1 to 86,400 seconds; undefined when absent, and for what is neither or is in the past */
//= rfc9110#10.2.3
export function retryAfterOf({ headers }: Pick<Response, "headers">, now: Clock): number | undefined {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(value)) return Math.min(Math.max(Number(value), 1), MAX_SECONDS);
  if (!DATE.test(value)) return undefined;
  const seconds = Math.ceil(Date.parse(value.endsWith("GMT") ? value : `${value} GMT`) / 1000) - now();
  // Not a number: a day or month that does not exist.
  return seconds >= 0 ? Math.min(Math.max(seconds, 1), MAX_SECONDS) : undefined;
}
