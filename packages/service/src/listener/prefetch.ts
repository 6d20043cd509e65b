/**
 * Which requests are a browser's own idea: it prefetches a page that the user may never open. Such a
 * request must not spend what the user's own one needs.
 */

const HEADERS = ["sec-purpose", "purpose", "x-purpose", "x-moz"] as const;
const AHEAD = /\b(?:prefetch|prerender|preview|preload)\b/i;

/**
 * @param header by its name in lower case
 * @see https://wicg.github.io/nav-speculation/prefetch.html#sec-purpose-header
 */
export function isPrefetch(header: (name: string) => string | undefined): boolean {
  return HEADERS.some((name) => AHEAD.test(header(name) ?? ""));
}
