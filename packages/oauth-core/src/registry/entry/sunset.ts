/**
 * What a vendor has announced to end, with its day. Part of an entry of the catalogue; the broker
 * warns of it at start and, from that day on, starts no flow at an endpoint that ends.
 */
import type { Clock } from "../../ports.ts";

/** Something a vendor ends on a day that it has announced. */
export interface Sunset {
  /** YYYY-MM-DD: over from the beginning of this day, in UTC. */
  readonly endsOn: string;
  /** What ends, in words. */
  readonly what: string;
  /**
   * How the URLs that end begin, as in the entry's templates. Absent: no endpoint ends, only what
   * was issued earlier.
   */
  readonly urls?: readonly string[];
  /** The page that says so. */
  readonly source: string;
}

/** Whether the day has begun. */
export function hasEnded({ endsOn }: Pick<Sunset, "endsOn">, now: Clock): boolean {
  return new Date(now() * 1000).toISOString().slice(0, 10) >= endsOn;
}

/** @returns those of the URLs that end */
export function urlsThatEnd(urls: readonly (string | undefined)[], { urls: starts = [] }: Sunset): string[] {
  return urls.filter((url) => url !== undefined).filter((url) => starts.some((start) => url.startsWith(start)));
}
