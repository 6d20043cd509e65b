/**
 * A registry vendor whose token endpoint the operator has replaced: the registry's further
 * endpoints belong to the replaced host, and tokens of the new one are not sent there, unless the
 * host is the same party's (docs/decisions/0016). Called by vendor-entry.ts.
 */
import { registrableDomainOf } from "@oauth-broker/oauth-core/egress";
import type { Vendor } from "@oauth-broker/oauth-core/registry";
import type { Reader } from "./reader.ts";

type UrlOfOperator = "VENDOR_TOKEN_URL" | "VENDOR_REVOCATION_URL" | "VENDOR_USERINFO_URL" | "VENDOR_INTROSPECTION_URL";

interface Move {
  /** As the registry has it. */
  readonly known: Vendor;
  readonly given: Readonly<Partial<Record<UrlOfOperator, string>>>;
  readonly read: Reader;
}

/** @param vendor the registry's, with the operator's URLs applied */
//= bar#BY-4
export function dropEndpointsOfReplacedHost(vendor: Vendor, { known, given, read }: Move): Vendor {
  const moved = given.VENDOR_TOKEN_URL;
  if (moved === undefined || known.tokenEndpoint === undefined || moved === known.tokenEndpoint) return vendor;
  const domain = registrableDomainOf(moved);
  const isReplaced = (given: string | undefined, ...urls: readonly (string | undefined)[]): boolean =>
    given === undefined && urls.some((url) => url !== undefined && registrableDomainOf(url) !== domain);
  const {
    refreshEndpoint: _,
    revocationEndpoint,
    userinfoEndpoint,
    account,
    introspectionEndpoint,
    tokenCheck,
    ...rest
  } = vendor;
  const dropped = {
    VENDOR_REVOCATION_URL: isReplaced(given.VENDOR_REVOCATION_URL, revocationEndpoint),
    VENDOR_USERINFO_URL: isReplaced(given.VENDOR_USERINFO_URL, account?.endpoint ?? userinfoEndpoint),
    VENDOR_INTROSPECTION_URL: isReplaced(given.VENDOR_INTROSPECTION_URL, tokenCheck?.endpoint ?? introspectionEndpoint),
    VENDOR_API_HOSTS: vendor.apiHosts.some((host) => registrableDomainOfHost(host) !== domain),
  };
  const names = Object.entries(dropped).flatMap(([name, is]) => (is ? [name] : []));
  if (names.length > 0) {
    read.warn(
      `VENDOR_TOKEN_URL is at another domain than the registry's, which gets none of these tokens: set what you need of ${names.join(", ")}`,
    );
  }
  return {
    ...rest,
    apiHosts: vendor.apiHosts.filter((host) => registrableDomainOfHost(host) === domain),
    ...(dropped.VENDOR_REVOCATION_URL || revocationEndpoint === undefined ? {} : { revocationEndpoint }),
    ...(dropped.VENDOR_USERINFO_URL || userinfoEndpoint === undefined ? {} : { userinfoEndpoint }),
    ...(dropped.VENDOR_USERINFO_URL || account === undefined ? {} : { account }),
    ...(dropped.VENDOR_INTROSPECTION_URL || introspectionEndpoint === undefined ? {} : { introspectionEndpoint }),
    ...(dropped.VENDOR_INTROSPECTION_URL || tokenCheck === undefined ? {} : { tokenCheck }),
  };
}

function registrableDomainOfHost(host: string): string {
  return registrableDomainOf(`https://${host.replace(/^\./, "")}`);
}
