/**
 * Decides below which names anyone can register a name. The public suffix list says so, including
 * its private section: registries, and hosters whose customers pick the next label. Decides which
 * hosts belong to one party: placeholders, registrable domains, and settings that name all hosts
 * below a domain.
 */
import { isIP } from "node:net";
import { getPublicSuffix } from "tldts";
import { OAuthError } from "./errors.ts";

const LIST = { allowPrivateDomains: true, extractHostname: false };
const REGISTRIES_ONLY = { ...LIST, allowPrivateDomains: false };

/**
 * Missing from the list (tldts 7.5.4): three domains that registries sell below, a content network,
 * tunnels, buckets, containers whose names begin below a region, and names that encode an address
 * (each host there is its own party).
 */
const ALSO_PUBLIC =
  /(?:^|\.)((?:gb|kr|uy)\.com|b-cdn\.net|loca\.lt|storage\.googleapis\.com|(?:[^.]+\.)?azurecontainerapps\.io)$|^((?:.+\.)?(?:nip|sslip|xip)\.io)$/;

/**
 * In the list only to keep cookies apart. A customer may pick a label, but one party answers at
 * every host: Google's APIs, Shopify's shops.
 */
const ONE_PARTY: ReadonlySet<string | null> = new Set(["googleapis.com", "myshopify.com"]);

/** @param suffix labels joined by dots, lower case, without a leading dot */
export function isPublicSuffix(suffix: string): boolean {
  return !suffix.includes(".") || publicSuffixOf(suffix) === suffix;
}

/**
 * The registrable domain of a URL's host, taken from its name alone. Decides to which further hosts
 * of the same party a token or a secret may go.
 *
 * @param url may hold {placeholders}
 * @returns the shortest name a party could have registered; for an IP address, the address
 * @throws OAuthError invalid_request for text that is no URL
 */
export function registrableDomainOf(url: string): string {
  const { hostname } = URL.parse(url.replace(/[{}]/g, "")) ?? {};
  if (hostname === undefined) throw new OAuthError("invalid_request", "An endpoint must be an absolute URL");
  return hostname.startsWith("[") || isIP(hostname) !== 0 ? hostname : registrableDomain(hostname);
}

/** @returns the name right below the public suffix of the host; for a suffix, the suffix itself */
function registrableDomain(host: string): string {
  const suffix = publicSuffixOf(host);
  if (suffix === undefined || suffix === host) return host;
  const before = host.slice(0, -suffix.length - 1);
  return `${before.slice(before.lastIndexOf(".") + 1)}.${suffix}`;
}

function publicSuffixOf(host: string): string | undefined {
  const [, below, whole] = ALSO_PUBLIC.exec(host) ?? [];
  if (below !== undefined || whole !== undefined) return below ?? whole;
  const suffix = getPublicSuffix(host, LIST);
  const known = ONE_PARTY.has(suffix) ? getPublicSuffix(host, REGISTRIES_ONLY) : suffix;
  // For a name with a trailing dot, the list returns the suffix without the dot.
  return known === null || !`.${host}`.endsWith(`.${known}`) ? undefined : known;
}
