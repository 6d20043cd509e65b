/**
 * Defences of outgoing requests: addresses, names, look-ups, redirects, limits. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const EGRESS_DEFENCES: DefencesByFile = {
  "packages/oauth-core/src/egress/index.ts": {
    "What a request names is not sent through the operator's proxy": {
      rows: ["EG-11"],
      find: "slowly(proxy === undefined ? untrusted.fetch : refuseBehindProxy)",
      replace: "slowly(proxy === undefined ? untrusted.fetch : proxy.port < 0 ? refuseBehindProxy : trusted.fetch)",
      tests: ["packages/oauth-core/src/egress/proxy.test.ts"],
    },
  },
  "packages/oauth-core/src/egress/proxy.ts": {
    "The operator's proxy is asked for names alone": {
      rows: ["EG-11"],
      find: 'if (isIP(hostname) !== 0) return "refused";',
      replace: 'if (isIP(hostname) !== 0) return "proxy";',
    },
    "A proxy that refuses is a failed connection": {
      rows: ["VR-5"],
      find: 'if (!status.startsWith("2")) return fail',
      replace: 'if (status === "000") return fail',
    },
    "A proxy does not speak in the vendor's place": {
      rows: ["EG-10"],
      find: "if (received.length > end.index + end[0].length) return fail",
      replace: "if (received.length > 1e9) return fail",
    },
  },
  "apps/broker/src/vendor-choice/callers-part.ts": {
    "Behind a proxy a request names no vendor and no endpoint": {
      rows: ["EG-11"],
      find: "function requireNoProxy(callersPart: CallersPart | undefined): void {\n  if (callersPart === undefined) return;",
      replace:
        "function requireNoProxy(callersPart: CallersPart | undefined): void {\n  if (callersPart !== null) return;",
      tests: ["apps/broker/src/flows/proxied.test.ts"],
    },
  },
  "apps/broker/src/vendor-choice/trust.ts": {
    "Behind a proxy a flow of which a request named a part keeps its network": {
      rows: ["EG-11"],
      find: "withShortWaits(isProxied ? untrusted : vendorClient)",
      replace: "withShortWaits(isProxied ? trusted : vendorClient)",
      tests: ["apps/broker/src/flows/proxied.test.ts"],
    },
  },
  "packages/oauth-core/src/egress/url.ts": {
    "Ports other than 443 are for hosts that the operator wrote down": {
      rows: ["EG-7"],
      find: 'if (url.port !== "" && isOperatorsHost?.(url.hostname) !== true) return "port";',
      replace: 'if (url.port !== "" && isOperatorsHost === undefined) return "port";',
      tests: ["packages/oauth-core/src/egress/ports.test.ts"],
    },
    "A placeholder that stands for a whole host permits no port": {
      rows: ["EG-7"],
      find: "&& !/^\\{[^{}]*\\}\\.?[^.]*$/.test(host))",
      replace: ")",
      tests: ["packages/oauth-core/src/egress/ports.test.ts"],
    },
    "Only port 443 is used": {
      rows: ["EG-7"],
      find: 'if (url.port !== "" && isOperatorsHost?.(url.hostname) !== true) return "port";',
      replace: "void isOperatorsHost;",
    },
    "A URL with a misleading host is refused": {
      rows: ["EG-1", "EG-7"],
      find: "parsed !== null && isCanonicalAuthority(authority, parsed) ? parsed",
      replace: "parsed !== null && (isCanonicalAuthority(authority, parsed) || parsed.href !== '') ? parsed",
    },
  },
  "packages/oauth-core/src/egress/connector.ts": {
    "A name that a private network could have is still asked on port 443 at a public address": {
      rows: ["EG-7"],
      find: "return mayUsePort && isPublicAddress(address);",
      replace: "return (mayUsePort || isPublicAddress(address)) && isPublicAddress(address);",
      tests: ["packages/oauth-core/src/egress/ports.test.ts"],
    },
    "A literal address is checked before a socket is opened": {
      rows: ["EG-1"],
      find: "if (isIP(hostname) === 0 || admits(hostname, target, policy)) return undefined;",
      replace: "if (isIP(hostname) >= 0 || admits(hostname, target, policy)) return undefined;",
    },
    "Every address of a DNS answer is checked, not only the first": {
      rows: ["EG-4"],
      find: "const bad = addresses.find(({ address }) => !admits(address, target, policy));",
      replace: "const bad = addresses.slice(0, 1).find(({ address }) => !admits(address, target, policy));",
    },
    "The peer of a connection is checked again": {
      rows: ["EG-4"],
      find: "if (peer !== undefined && admits(peer, target, policy)) return callback(null, socket);",
      replace: "if (peer !== undefined || admits('', target, policy)) return callback(null, socket);",
    },
    "Requests cannot reach our own hosts": {
      rows: ["EG-5"],
      find: "if (policy.refusedHosts.has(hostname)) return",
      replace: "if (policy.refusedHosts.has(`${hostname} `)) return",
    },
    "A vendor's certificate is checked": {
      rows: ["EG-10"],
      find: "rejectUnauthorized: true,",
      replace: "rejectUnauthorized: false,",
      tests: ["packages/oauth-core/src/egress/tls.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/discovery/document.ts": {
    "Metadata names other ports at the host of its issuer alone": {
      rows: ["DI-2"],
      find: "const isOfIssuer = issuer === undefined || issuer.hostname === hostname;",
      replace: "const isOfIssuer = issuer?.hostname !== undefined || hostname !== undefined;",
      tests: ["packages/oauth-core/src/egress/ports.test.ts"],
    },
  },
  "packages/oauth-core/src/egress/exchange.ts": {
    "Informational answers without end are cut": {
      rows: ["EG-8"],
      find: "else if ((informational += 1) > MAX_INFORMATIONAL)",
      replace: "else if ((informational += 1) > 100 * MAX_INFORMATIONAL)",
      tests: ["packages/oauth-core/src/egress/limits.test.ts"],
    },
    "A protocol that was not asked for ends the call": {
      rows: ["EG-8"],
      find: "else if (status === 101)",
      replace: "else if (status === 199)",
      tests: ["packages/oauth-core/src/egress/limits.test.ts"],
    },
    "An answer beyond its limit is aborted": {
      rows: ["EG-8"],
      find: "createByteCollector(limits.maxBodyBytes)",
      replace: "createByteCollector(limits.maxBodyBytes * 1e6)",
      tests: ["packages/oauth-core/src/egress/limits.test.ts"],
    },
  },
  "packages/oauth-core/src/egress/addresses.ts": {
    "IPv4 addresses of special ranges are not public": {
      rows: ["EG-3"],
      find: '  "169.254.0.0/16",\n',
      replace: "",
    },
    "IPv6 addresses outside 2000::/3 are not public": {
      rows: ["EG-2"],
      find: 'if (!globalV6.check(address, "ipv6") || privateV6.check(address, "ipv6")) return false;',
      replace: 'if (globalV6.rules.length === 0 || privateV6.check(address, "ipv6")) return false;',
    },
    "Names of inner networks are refused as names": {
      rows: ["EG-5"],
      find: "return PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));",
      replace: "return PRIVATE_SUFFIXES.length === 0;",
    },
  },
  "packages/oauth-core/src/egress/messages.ts": {
    "A compressed answer grows no further than its limit": {
      rows: ["EG-8"],
      find: "return decode(data, { maxOutputLength: maxBodyBytes });",
      replace: "return decode(data, { maxOutputLength: maxBodyBytes * 1e3 });",
      tests: ["packages/oauth-core/src/egress/limits.test.ts"],
    },
    "A caller sets no header of the connection": {
      rows: ["EG-11"],
      find: "if (RESERVED_HEADERS.has(lower)) throw",
      replace: "if (RESERVED_HEADERS.has(lower) && lower === '') throw",
      tests: ["packages/oauth-core/src/egress/index.test.ts"],
    },
  },
};
