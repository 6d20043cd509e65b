/**
 * `Retry-After` of a vendor's answer: how long the vendor asks us to wait. Read by errors.ts for
 * every answer that is an outage.
 */
import type { Clock, EpochSeconds } from "../ports.ts";

/**
 * A vendor's wait is accepted up to a day. The broker passes on less of a vendor that a caller
 * names.
 */
const MAX_SECONDS = 86_400;

/** One number, or the same header sent more than once, which arrives as a list. */
const DELAYS = /^\d+(?:\.\d+)?(?:\s*,\s*\d+(?:\.\d+)?)*$/;

/**
 * @param value `Retry-After` as received: seconds (a fraction is rounded up, of several the longest
 *   is used) or a date in one of the three forms
 * @returns 1 to 86,400 seconds; undefined when absent, and for what is neither or is in the past
 */
//= rfc9110#10.2.3
export function parseRetryAfter(value: string | null, now: Clock): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  const seconds = DELAYS.test(text) ? Math.max(...text.split(",").map(Number)) : secondsUntil(text, now());
  return seconds === undefined ? undefined : Math.min(Math.max(Math.ceil(seconds), 1), MAX_SECONDS);
}

function secondsUntil(text: string, now: EpochSeconds): number | undefined {
  const at = parseHttpDate(text, now);
  return at === undefined || at < now ? undefined : at - now;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const TIME = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})`;
/** IMF-fixdate, the form of RFC 850, and that of C's asctime. */
const FORMS = [
  String.raw`[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT`,
  String.raw`[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) ${TIME} GMT`,
  String.raw`[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** @returns undefined for a text in none of the three forms */
//= rfc9110#5.6.7
function parseHttpDate(text: string, now: EpochSeconds): EpochSeconds | undefined {
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  const month = MONTHS.indexOf(parts?.["month"] ?? "");
  if (parts === undefined || month < 0) return undefined;
  const part = (name: string): number => Number(parts[name]);
  const year = parts["year"]?.length === 2 ? fullYear(part("year"), now) : part("year");
  return Date.UTC(year, month, part("day"), part("hour"), part("minute"), part("second")) / 1000;
}

/** Two digits that seem to be more than 50 years ahead are of the past. */
function fullYear(twoDigits: number, now: EpochSeconds): number {
  const present = new Date(now * 1000).getUTCFullYear();
  const year = present - (present % 100) + twoDigits;
  return year > present + 50 ? year - 100 : year;
}
