/**
 * A browser's cookies: by host and path, across all ports of a host (RFC 6265 section 8.5: "Cookies
 * do not provide isolation by port"), which session-fixation tests depend on. Left out: SameSite, as
 * every hop here is same-site, and public suffixes.
 */
import { Cookie, CookieJar as Jar } from "tough-cookie";
import { machineClock, type Clock } from "./clock.ts";

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
export function createCookieJar({ now = machineClock }: { readonly now?: Clock } = {}): CookieJar {
  const options = { rejectPublicSuffixes: false, allowSecureOnLocal: false, allowSpecialUseDomain: true };
  return jarOf(new Jar(undefined, options), now);
}

function jarOf(jar: Jar, now: Clock): CookieJar {
  // The jar reads the clock of the machine.
  const matching = (url: URL): Cookie[] =>
    jar
      .getCookiesSync(url.href, { expire: false, sort: true })
      .filter((cookie) => (cookie.expiryTime() ?? Infinity) > now() * 1000);
  return {
    store(url, setCookies) {
      for (const cookie of setCookies.flatMap((text) => Cookie.parse(text) ?? [])) {
        if (typeof cookie.maxAge === "number") cookie.setExpires(new Date((now() + cookie.maxAge) * 1000));
        cookie.maxAge = null;
        jar.setCookieSync(cookie, url.href, { ignoreError: true });
      }
    },
    header(url) {
      const cookies = matching(url);
      return cookies.length === 0 ? undefined : cookies.map((cookie) => cookie.cookieString()).join("; ");
    },
    get: (url, name) => matching(url).find(({ key }) => key === name)?.value,
    copy: () => jarOf(jar.cloneSync() ?? jar, now),
  };
}
