/**
 * Defences of tokens after they were issued: whose they are, and which connection they belong to.
 * Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const GRANT_DEFENCES: DefencesByFile = {
  "apps/broker/src/grants/token-binding.ts": {
    "Where owners share a vendor client, a token counts beside its own connection only": {
      rows: ["RF-7", "RV-3"],
      find: "isSameText(tokens?.[kind], hashOf(value, key))",
      replace: "tokens?.[kind] !== hashOf(value, key)",
      tests: ["apps/broker/src/flows/shared-tokens.test.ts", "e2e/attacks/stolen-token.attack.test.ts"],
    },
    "Where owners share a vendor client, a connection that knows no tokens is refused": {
      rows: ["RF-7"],
      find: "  if (key !== undefined && kinds.some(",
      replace: "  if (key === undefined) return;\n  if (kinds.some(",
      tests: ["apps/broker/src/flows/shared-tokens.test.ts"],
    },
    "A client with an owner has connections that know their tokens before there is another owner": {
      find: "if (client.owner === undefined && !isShared(",
      replace: "if (!isShared(",
      tests: ["apps/broker/src/flows/shared-tokens.test.ts"],
    },
  },
  "apps/broker/src/grants/grant-context.ts": {
    "Where owners share a vendor client, the vendor's name is not enough": {
      rows: ["RF-7", "RV-3"],
      find: "if (token !== undefined && isShared(choice, client, deps))",
      replace: "if (token !== undefined && origin !== undefined && isShared(choice, client, deps))",
      tests: ["apps/broker/src/flows/shared-tokens.test.ts", "e2e/attacks/stolen-token.attack.test.ts"],
    },
    "Nothing beside a sealed refresh token says where it goes": {
      find: "others.find((name) => parameters.has(name))",
      replace: "others.find((name) => name === '' && parameters.has(name))",
      tests: ["apps/broker/src/flows/sealed-refresh-tokens.test.ts"],
    },
    "A sealed refresh token goes beside no other connection than its own": {
      find: "isSameOrigin(named.connection, grant.connection)",
      replace: "isSameOrigin(named.connection, named.connection)",
      tests: ["apps/broker/src/flows/sealed-refresh-tokens.test.ts"],
    },
  },
  "apps/broker/src/flows/refresh.ts": {
    "An access token is not taken for the refresh token of its connection": {
      rows: ["RF-8"],
      find: 'kinds: ["refresh"]',
      replace: 'kinds: ["access", "refresh"]',
      tests: ["apps/broker/src/flows/shared-tokens.test.ts"],
    },
  },
  "apps/broker/src/flows/check.ts": {
    "A refresh token is not taken for the access token of its connection": {
      rows: ["RF-8"],
      find: 'kinds: ["access"]',
      replace: 'kinds: ["access", "refresh"]',
      tests: ["apps/broker/src/flows/shared-tokens.test.ts"],
    },
    "The access token beside a sealed refresh token is of the same answer": {
      rows: ["RF-7"],
      find: "deps, trace, { token, grant });",
      replace: "deps, trace, grant === undefined ? { token } : { grant });",
      tests: ["apps/broker/src/flows/shared-tokens.test.ts"],
    },
  },
  "apps/broker/src/grants/connection.ts": {
    "A refresh answers a connection of its own tokens": {
      rows: ["RF-7"],
      find: "if (isCurrent && !lacksHosts && !isBound) return presented;",
      replace: "if (isCurrent && !lacksHosts && isBound !== undefined) return presented;",
      tests: ["apps/broker/src/flows/shared-tokens.test.ts"],
    },
    "A connection that names tokens is not shared by others, nor kept opened": {
      find: "    (iss ?? sub ?? callbackData ?? tokens) === undefined &&",
      replace: "    (iss ?? sub ?? callbackData ?? (tokens === undefined ? tokens : undefined)) === undefined &&",
    },
  },
  "apps/broker/src/grants/sealed-refresh-token.ts": {
    "A sealed refresh token is its own client's only": {
      rows: ["RF-7"],
      find: "if (isSameText(owner, clientId)) return",
      replace: "if (isSameText(owner, owner) && clientId !== '') return",
      tests: ["apps/broker/src/flows/sealed-refresh-tokens.test.ts", "e2e/attacks/stolen-token.attack.test.ts"],
    },
    "A sealed refresh token that does not open is sent to no vendor": {
      rows: ["RF-7"],
      find: "  if (key === undefined) throw unreadable();",
      replace: "  if (key === undefined) return { refreshToken: token, connection: {} as Connection, kid };",
      tests: ["apps/broker/src/flows/sealed-refresh-tokens.test.ts"],
    },
    "A sealed refresh token has a bound": {
      find: "  if (Buffer.byteLength(text) > MOST_BYTES) return undefined;\n",
      replace: "",
      tests: ["apps/broker/src/flows/sealed-refresh-tokens.test.ts"],
    },
  },
  "apps/broker/src/flows/revoke.ts": {
    "A token alone that says not where it came from is refused by name to a client of sealed tokens": {
      find: 'client.refreshTokens === "sealed" && !namesOrigin(parameters)',
      replace: 'client.refreshTokens === "sealed" && parameters.has("connection") && !namesOrigin(parameters)',
      tests: ["apps/broker/src/flows/sealed-refresh-tokens.test.ts"],
    },
  },
};
