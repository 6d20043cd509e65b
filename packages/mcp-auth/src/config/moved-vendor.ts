/**
 * A registry vendor whose token endpoint the operator has moved: what the registry says of its further endpoints is about the
 * place that was left, and tokens of the new place do not go there, unless it is the same party's (docs/decisions/0016).
 * For vendor-entry.ts.
 */
import { siteOf, type Vendor } from "@oauth-broker/oauth-core";
import type { Reader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

interface Move {
  /** As the registry has it. */
  readonly known: Vendor;
  /** The operator's URLs as written. */
  readonly given: Readonly<Partial<Record<VariableName, string>>>;
  readonly read: Reader;
}

/** @param vendor the registry's, with the operator's URLs over it */
//= bar#BY-4
export function dropReplacedEndpoints(vendor: Vendor, { known, given, read }: Move): Vendor {
  const moved = given.VENDOR_TOKEN_URL;
  if (moved === undefined || known.tokenEndpoint === undefined || moved === known.tokenEndpoint) return vendor;
  const site = siteOf(moved);
  const isLeft = (given: string | undefined, ...urls: readonly (string | undefined)[]): boolean =>
    given === undefined && urls.some((url) => url !== undefined && siteOf(url) !== site);
  const {
    refreshEndpoint: _,
    revocationEndpoint,
    userinfoEndpoint,
    account,
    introspectionEndpoint,
    tokenCheck,
    ...rest
  } = vendor;
  const left = {
    VENDOR_REVOCATION_URL: isLeft(given.VENDOR_REVOCATION_URL, revocationEndpoint),
    VENDOR_USERINFO_URL: isLeft(given.VENDOR_USERINFO_URL, account?.endpoint ?? userinfoEndpoint),
    VENDOR_INTROSPECTION_URL: isLeft(given.VENDOR_INTROSPECTION_URL, tokenCheck?.endpoint ?? introspectionEndpoint),
    VENDOR_API_HOSTS: vendor.apiHosts.some((host) => siteOfHost(host) !== site),
  };
  const names = Object.entries(left).flatMap(([name, is]) => (is ? [name] : []));
  if (names.length > 0) {
    read.warn(
      `VENDOR_TOKEN_URL is at another domain than the registry's, which gets none of these tokens: set what you need of ${names.join(", ")}`,
    );
  }
  return {
    ...rest,
    apiHosts: vendor.apiHosts.filter((host) => siteOfHost(host) === site),
    ...(left.VENDOR_REVOCATION_URL || revocationEndpoint === undefined ? {} : { revocationEndpoint }),
    ...(left.VENDOR_USERINFO_URL || userinfoEndpoint === undefined ? {} : { userinfoEndpoint }),
    ...(left.VENDOR_USERINFO_URL || account === undefined ? {} : { account }),
    ...(left.VENDOR_INTROSPECTION_URL || introspectionEndpoint === undefined ? {} : { introspectionEndpoint }),
    ...(left.VENDOR_INTROSPECTION_URL || tokenCheck === undefined ? {} : { tokenCheck }),
  };
}

function siteOfHost(host: string): string {
  return siteOf(`https://${host.replace(/^\./, "")}`);
}
