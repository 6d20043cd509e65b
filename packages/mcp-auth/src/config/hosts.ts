/** Hosts in variables, as in a URL: lower case, and with one reading for every parser. */
import { isPublicSuffix } from "@oauth-broker/oauth-core/protocol";
import { checkEgressUrl } from "@oauth-broker/oauth-core/egress";
import type { Check } from "@oauth-broker/service/configuration";
import type { CommonSettings } from "../settings.ts";

const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/;

/** With its port when that is not 443: the `host` of a URL. */
export const checkHost: Check = (host) =>
  HOST.test(host) && URL.parse(`https://${host}/`)?.host === host
    ? undefined
    : "must be a host in lower case, with its port where that is not 443, and without scheme and path";

/** As `checkHost`, for a host the server connects to, so the egress rules apply too. */
export function checkReachableHost(host: string, rules: CommonSettings["egress"]): string | undefined {
  return checkHost(host) ?? checkEgressUrl(`https://${host}/`, rules);
}

/**
 * A host name without port, or with a leading dot all hosts below a domain that belongs to one
 * party.
 */
export function checkHostOrDomain(host: string, rules: CommonSettings["egress"]): string | undefined {
  const name = host.replace(/^\./, "");
  if (/:\d+$/.test(name) || checkHost(name) !== undefined)
    return "must be a host in lower case, without scheme, port and path";
  const problem = checkReachableHost(name, rules);
  if (problem !== undefined || name === host) return problem;
  return isPublicSuffix(name) || /^[\d.]+$|^\[/.test(name)
    ? "must not be all below a domain that many parties share"
    : undefined;
}
