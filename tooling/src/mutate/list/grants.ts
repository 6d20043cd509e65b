/**
 * Defences of tokens after they were issued: whose they are, and which connection they belong to.
 * Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const FLOWS = "apps/broker/src/flows";
const CONNECTIONS = "apps/broker/src/grants";
const SHARED = `${FLOWS}/shared-tokens.test.ts`;
const SEALED = `${FLOWS}/sealed-refresh-tokens.test.ts`;
const STOLEN = "e2e/attacks/stolen-token.attack.test.ts";

export const GRANT_DEFENCES: readonly Mutation[] = [
  {
    defence: "Where owners share a vendor client, a token counts beside its own connection only",
    rows: ["RF-7", "RV-3"],
    file: `${CONNECTIONS}/token-binding.ts`,
    find: "isSameText(tokens?.[kind], hashOf(value, key))",
    replace: "tokens?.[kind] !== hashOf(value, key)",
    tests: [SHARED, STOLEN],
  },
  {
    defence: "Where owners share a vendor client, the vendor's name is not enough",
    rows: ["RF-7", "RV-3"],
    file: `${CONNECTIONS}/grant-context.ts`,
    find: "if (token !== undefined && isShared(choice, client, deps))",
    replace: "if (token !== undefined && origin !== undefined && isShared(choice, client, deps))",
    tests: [SHARED, STOLEN],
  },
  {
    defence: "Where owners share a vendor client, a connection that knows no tokens is refused",
    rows: ["RF-7"],
    file: `${CONNECTIONS}/token-binding.ts`,
    find: "  if (key !== undefined && kinds.some(",
    replace: "  if (key === undefined) return;\n  if (kinds.some(",
    tests: [SHARED],
  },
  {
    defence: "An access token is not taken for the refresh token of its connection",
    rows: ["RF-8"],
    file: `${FLOWS}/refresh.ts`,
    find: 'kinds: ["refresh"]',
    replace: 'kinds: ["access", "refresh"]',
    tests: [SHARED],
  },
  {
    defence: "A refresh token is not taken for the access token of its connection",
    rows: ["RF-8"],
    file: `${FLOWS}/check.ts`,
    find: 'kinds: ["access"]',
    replace: 'kinds: ["access", "refresh"]',
    tests: [SHARED],
  },
  {
    defence: "A refresh answers a connection of its own tokens",
    rows: ["RF-7"],
    file: `${CONNECTIONS}/connection.ts`,
    find: "if (isCurrent && !lacksHosts && !isBound) return presented;",
    replace: "if (isCurrent && !lacksHosts && isBound !== undefined) return presented;",
    tests: [SHARED],
  },
  {
    defence: "A client with an owner has connections that know their tokens before there is another owner",
    file: `${CONNECTIONS}/token-binding.ts`,
    find: "if (client.owner === undefined && !isShared(",
    replace: "if (!isShared(",
    tests: [SHARED],
  },
  {
    defence: "A connection that names tokens is not shared by others, nor kept opened",
    file: `${CONNECTIONS}/connection.ts`,
    find: "    (iss ?? sub ?? callbackData ?? tokens) === undefined &&",
    replace: "    (iss ?? sub ?? callbackData ?? (tokens === undefined ? tokens : undefined)) === undefined &&",
    tests: [`${CONNECTIONS}/connection.test.ts`],
  },
  {
    defence: "A sealed refresh token is its own client's only",
    rows: ["RF-7"],
    file: `${CONNECTIONS}/sealed-refresh-token.ts`,
    find: "if (isSameText(owner, clientId)) return",
    replace: "if (isSameText(owner, owner) && clientId !== '') return",
    tests: [SEALED, STOLEN],
  },
  {
    defence: "Nothing beside a sealed refresh token says where it goes",
    file: `${CONNECTIONS}/grant-context.ts`,
    find: "others.find((name) => parameters.has(name))",
    replace: "others.find((name) => name === '' && parameters.has(name))",
    tests: [SEALED],
  },
  {
    defence: "A sealed refresh token goes beside no other connection than its own",
    file: `${CONNECTIONS}/grant-context.ts`,
    find: "isSameOrigin(named.connection, grant.connection)",
    replace: "isSameOrigin(named.connection, named.connection)",
    tests: [SEALED],
  },
  {
    defence: "The access token beside a sealed refresh token is of the same answer",
    rows: ["RF-7"],
    file: `${FLOWS}/check.ts`,
    find: "deps, trace, { token, grant });",
    replace: "deps, trace, grant === undefined ? { token } : { grant });",
    tests: [SHARED],
  },
  {
    defence: "A sealed refresh token that does not open is sent to no vendor",
    rows: ["RF-7"],
    file: `${CONNECTIONS}/sealed-refresh-token.ts`,
    find: "  if (key === undefined) throw unreadable();",
    replace: "  if (key === undefined) return { refreshToken: token, connection: {} as Connection, kid };",
    tests: [SEALED],
  },
  {
    defence: "A sealed refresh token has a bound",
    file: `${CONNECTIONS}/sealed-refresh-token.ts`,
    find: "  if (Buffer.byteLength(text) > MOST_BYTES) return undefined;\n",
    replace: "",
    tests: [SEALED],
  },
  {
    defence: "A token alone that says not where it came from is refused by name to a client of sealed tokens",
    file: `${FLOWS}/revoke.ts`,
    find: 'client.refreshTokens === "sealed" && !namesOrigin(parameters)',
    replace: 'client.refreshTokens === "sealed" && parameters.has("connection") && !namesOrigin(parameters)',
    tests: [SEALED],
  },
];
