/**
 * A browser's cookies, as far as the sandbox's flows need them: by host and path, across all ports
 * of a host (RFC 6265 section 8.5: "Cookies do not provide isolation by port"), which
 * session-fixation tests depend on. Left out: SameSite (every hop here is same-site) and public
 * suffixes.
 */
import { machineClock, type Clock } from "./clock.ts";

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly hostOnly: boolean;
  readonly path: string;
  readonly secure: boolean;
  /** Epoch seconds; undefined for a session cookie. */
  readonly expiresAt: number | undefined;
}

export interface CookieJar {
  /** Applies the Set-Cookie headers of a response of `url`. */
  store(url: URL, setCookies: readonly string[]): void;
  /** @returns the `Cookie` header for a request to `url`; undefined when none matches */
  header(url: URL): string | undefined;
  /** @returns the value of the first matching cookie */
  get(url: URL, name: string): string | undefined;
  /** @returns an independent copy, as of another window that has seen the same pages */
  copy(): CookieJar;
}

/** @param options.now the system clock by default */
export function createCookieJar(options: { readonly now?: Clock } = {}): CookieJar {
  return jarOf([], options.now ?? machineClock);
}

function jarOf(initial: readonly Cookie[], now: Clock): CookieJar {
  let cookies = [...initial];

  function matching(url: URL): Cookie[] {
    return cookies
      .filter(
        (cookie) =>
          isLive(cookie, now()) && domainMatches(cookie, url.hostname) && pathMatches(cookie.path, url.pathname),
      )
      .filter((cookie) => !cookie.secure || url.protocol === "https:")
      .toSorted((a, b) => b.path.length - a.path.length);
  }

  return {
    store(url, setCookies) {
      for (const text of setCookies) {
        const cookie = parseSetCookie(url, text, now());
        if (cookie === undefined) continue;
        cookies = cookies.filter(
          (other) => !(other.name === cookie.name && other.domain === cookie.domain && other.path === cookie.path),
        );
        if (isLive(cookie, now())) cookies.push(cookie);
      }
    },
    header(url) {
      const pairs = matching(url).map(({ name, value }) => `${name}=${value}`);
      return pairs.length === 0 ? undefined : pairs.join("; ");
    },
    get: (url, name) => matching(url).find((cookie) => cookie.name === name)?.value,
    copy: () => jarOf(cookies, now),
  };
}

function parseSetCookie(url: URL, text: string, now: number): Cookie | undefined {
  const [pair = "", ...rest] = text.split(";");
  const separator = pair.indexOf("=");
  if (separator < 1) return undefined;
  const attributes = new Map(
    rest.map((attribute) => {
      const [name = "", ...value] = attribute.split("=");
      return [name.trim().toLowerCase(), value.join("=").trim()] as const;
    }),
  );
  const name = pair.slice(0, separator).trim();
  const domain = (attributes.get("domain") ?? "").replace(/^\./, "").toLowerCase();
  const path = attributes.get("path") ?? "";
  const cookie: Cookie = {
    name,
    value: pair.slice(separator + 1).trim(),
    domain: domain === "" ? url.hostname : domain,
    hostOnly: domain === "",
    path: path.startsWith("/") ? path : defaultPath(url.pathname),
    secure: attributes.has("secure"),
    expiresAt: expiry(attributes, now),
  };
  return isAcceptable(cookie, url) ? cookie : undefined;
}

function isAcceptable(cookie: Cookie, url: URL): boolean {
  if (!domainMatches(cookie, url.hostname)) return false;
  if (cookie.secure && url.protocol !== "https:") return false;
  if (cookie.name.startsWith("__Host-")) return cookie.secure && cookie.hostOnly && cookie.path === "/";
  return cookie.name.startsWith("__Secure-") ? cookie.secure : true;
}

function expiry(attributes: ReadonlyMap<string, string>, now: number): number | undefined {
  const maxAge = attributes.get("max-age");
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return now + Number(maxAge);
  const expires = Date.parse(attributes.get("expires") ?? "");
  return Number.isNaN(expires) ? undefined : Math.floor(expires / 1000);
}

function isLive(cookie: Cookie, now: number): boolean {
  return cookie.expiresAt === undefined || cookie.expiresAt > now;
}

function domainMatches(cookie: Cookie, hostname: string): boolean {
  return hostname === cookie.domain || (!cookie.hostOnly && hostname.endsWith(`.${cookie.domain}`));
}

function pathMatches(cookiePath: string, path: string): boolean {
  return path === cookiePath || path.startsWith(cookiePath.endsWith("/") ? cookiePath : `${cookiePath}/`);
}

function defaultPath(path: string): string {
  const end = path.lastIndexOf("/");
  return end < 1 ? "/" : path.slice(0, end);
}
