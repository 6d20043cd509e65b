/**
 * Defences of an MCP server towards clients that describe themselves: registrations, documents of
 * any host, and what the user is shown of them. Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const CLIENTS = "packages/mcp-auth/src/hosted/clients";
const ANY_HOST = [`${CLIENTS}/any-host.test.ts`];

export const MCP_CLIENT_DEFENCES: readonly Mutation[] = [
  {
    defence: "A redirect URI that is a script refuses a registration, also beside a good one",
    rows: ["AS-11"],
    file: `${CLIENTS}/client-metadata.ts`,
    find: "return url !== null && !PUBLIC_SCHEMES.has(url.protocol);",
    replace: 'return url !== null && !(PUBLIC_SCHEMES.has(url.protocol) && url.protocol.startsWith("http"));',
    tests: [`${CLIENTS}/registration.test.ts`],
  },
  {
    defence: "A registration is answered without a secret, as a public client",
    rows: ["AS-11"],
    file: `${CLIENTS}/client-metadata.ts`,
    find: 'token_endpoint_auth_method: "none",\n  grant_types',
    replace: 'token_endpoint_auth_method: "client_secret_post",\n  grant_types',
    tests: [`${CLIENTS}/registration.test.ts`, `${CLIENTS}/shipping-clients.test.ts`],
  },
  {
    defence: "A document whose client cannot be public is refused",
    rows: ["AS-13"],
    file: `${CLIENTS}/client-metadata.ts`,
    find: '(Array.isArray(supported) && supported.includes("none"))',
    replace: "supported !== null",
    tests: [`${CLIENTS}/metadata-document.test.ts`],
  },
  {
    defence: "A client assertion is refused, not ignored",
    rows: ["AS-20"],
    file: `${CLIENTS}/client.ts`,
    find: '["client_secret", "client_assertion", "client_assertion_type"]',
    replace: '["client_secret"]',
    tests: [`${CLIENTS}/shipping-clients.test.ts`],
  },
  {
    defence: "A document of a host that no one listed is never fetched from loopback",
    rows: ["AS-13"],
    file: `${CLIENTS}/metadata-document.ts`,
    find: "egress: { ...egress, allowLoopback: false }",
    replace: "egress: { ...egress }",
    tests: ANY_HOST,
  },
  {
    defence: "A document of a host that no one listed is on port 443",
    rows: ["AS-13"],
    file: `${CLIENTS}/metadata-document.ts`,
    find: 'url.protocol === "https:" && url.port === "" &&',
    replace: 'url.protocol === "https:" &&',
    tests: ANY_HOST,
  },
  {
    defence: "Documents of one host that no one listed are fetched ten times a minute",
    rows: ["AS-13"],
    file: `${CLIENTS}/document-limits.ts`,
    find: "ofHost.take(new URL(clientId).host);",
    replace: "void ofHost;",
    tests: ANY_HOST,
  },
  {
    defence: "Documents of hosts that no one listed are fetched thirty times a minute for one address",
    rows: ["AS-13"],
    file: `${CLIENTS}/document-limits.ts`,
    find: "      ofAddress.add(address);\n",
    replace: "",
    tests: ANY_HOST,
  },
  {
    defence: "What a browser's request makes the server fetch counts for its address",
    rows: ["AS-13"],
    file: "packages/mcp-auth/src/hosted/routes.ts",
    find: "onBehalfOf({ clientId: address }, () => route.handle(c, trace))",
    replace: "onBehalfOf({}, () => route.handle(c, trace))",
    tests: ANY_HOST,
  },
  {
    defence: "A document of a host that no one listed is not fetched again for a minute after it failed",
    rows: ["AS-13"],
    file: `${CLIENTS}/document-limits.ts`,
    find: "failures.set(clientId, { cause }, now() + FAILURE_SECONDS);",
    replace: "failures.set(clientId, { cause }, now() + FAILURE_SECONDS - FAILURE_SECONDS);",
    tests: ANY_HOST,
  },
  {
    defence: "The page names the host of a client's document before the name that it chose",
    rows: ["AS-10"],
    file: "packages/mcp-auth/src/hosted/server-callback/consent-page.ts",
    find: 'return knownBy === "metadata_document" ? new URL(clientId).host : name;',
    replace: 'return knownBy === "metadata_document" && clientId === "" ? new URL(clientId).host : name;',
    tests: ANY_HOST,
  },
  {
    defence: "Challenges and the resource's metadata do not name offline_access",
    rows: ["AS-17"],
    file: "packages/mcp-auth/src/mcp/resource-scopes.ts",
    find: "scope !== OFFLINE_ACCESS && ",
    replace: "scope !== `${OFFLINE_ACCESS}2` && ",
    tests: ["packages/mcp-auth/src/hosted/offline-access.test.ts", "packages/mcp-auth/src/mcp/endpoint.test.ts"],
  },
  {
    defence: "A redirect URI that is sent to /token is compared although it may be left out",
    rows: ["AS-6"],
    file: "packages/oauth-core/src/brokered-code/redeem.ts",
    find: 'policy.redirectUriAtToken === "optional" && !parameters.has("redirect_uri")',
    replace: 'policy.redirectUriAtToken === "optional"',
    tests: ["packages/mcp-auth/src/hosted/server-callback/redeem-own-code.test.ts"],
  },
  {
    defence: "A caller without credentials is not asked for a password",
    rows: ["AS-20"],
    file: `${CLIENTS}/client.ts`,
    find: "return authorization === undefined || /^bearer",
    replace: 'return authorization === "" || /^bearer',
    tests: ["packages/mcp-auth/src/hosted/platform-callback/redeem-vendor-code.test.ts"],
  },
];
