/**
 * Below which names can anyone register one of their own? The public suffix list says it, its
 * private section included: registries, and hosters whose customers pick the next label. Decides
 * which hosts belong to one party: placeholders, registrable domains, and the settings that name all hosts
 * below a domain.
 */
import { getPublicSuffix } from "tldts";

const LIST = { allowPrivateDomains: true, extractHostname: false };
const REGISTRIES_ONLY = { ...LIST, allowPrivateDomains: false };

/**
 * What the list lacks (tldts 7.5.4): three domains that registries sell below, a content network,
 * tunnels, buckets, containers whose names begin below a region, and names that say any address
 * (there each host is a party of its own).
 */
const ALSO_PUBLIC =
  /(?:^|\.)((?:gb|kr|uy)\.com|b-cdn\.net|loca\.lt|storage\.googleapis\.com|(?:[^.]+\.)?azurecontainerapps\.io)$|^((?:.+\.)?(?:nip|sslip|xip)\.io)$/;

/**
 * In the list to keep cookies apart. A customer may pick a label, and yet one party answers at
 * every host: Google's APIs, Shopify's shops.
 */
const ONE_PARTY: ReadonlySet<string | null> = new Set(["googleapis.com", "myshopify.com"]);

/** @param suffix labels joined by dots, lower case, without a leading dot */
export function isPublicSuffix(suffix: string): boolean {
  return !suffix.includes(".") || publicSuffixOf(suffix) === suffix;
}

/** @returns the name right below the public suffix that the host is at or below; of a suffix, itself */
export function registrableDomain(host: string): string {
  const suffix = publicSuffixOf(host);
  if (suffix === undefined || suffix === host) return host;
  const label =
    host
      .slice(0, -suffix.length - 1)
      .split(".")
      .at(-1) ?? "";
  return `${label}.${suffix}`;
}

function publicSuffixOf(host: string): string | undefined {
  const [, below, whole] = ALSO_PUBLIC.exec(host) ?? [];
  if (below !== undefined || whole !== undefined) return below ?? whole;
  const suffix = getPublicSuffix(host, LIST);
  const known = ONE_PARTY.has(suffix) ? getPublicSuffix(host, REGISTRIES_ONLY) : suffix;
  // Of a name with a dot at its end the list tells the suffix without.
  return known === null || !`.${host}`.endsWith(`.${known}`) ? undefined : known;
}
