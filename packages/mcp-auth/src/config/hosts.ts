/** Host names in variables, as a URL has them: lower case, no port, nothing a parser would read as another host. */
import { isPublicSuffix } from "@oauth-broker/oauth-core";
import { requireEgressUrl } from "@oauth-broker/oauth-core/egress";
import { problemOfThrown } from "@oauth-broker/oauth-core/service";
import type { CommonSettings } from "../settings.ts";
import type { Check } from "./reader.ts";

const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:]+\])$/;

export const checkHost: Check = (host) =>
  HOST.test(host) && URL.parse(`https://${host}/`)?.hostname === host
    ? undefined
    : "must be a host name in lower case, without scheme, port and path";

/** A host that is connected to, so that the egress rules decide. */
export function checkReachableHost(host: string, rules: CommonSettings["egress"]): string | undefined {
  return (
    checkHost(host) ??
    problemOfThrown(() => void requireEgressUrl(`https://${host}/`, rules))?.replace(/^An endpoint /, "")
  );
}

/** As `checkReachableHost`, or all hosts below a domain that belongs to one party. */
export function checkHostOrDomain(host: string, rules: CommonSettings["egress"]): string | undefined {
  if (!host.startsWith(".")) return checkReachableHost(host, rules);
  const domain = host.slice(1);
  const problem = checkReachableHost(domain, rules);
  if (problem !== undefined) return problem;
  return isPublicSuffix(domain) || /^[\d.]+$|^\[/.test(domain)
    ? "must not be all below a domain that many parties share"
    : undefined;
}
