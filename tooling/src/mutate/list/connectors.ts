/**
 * Defences of the platform's connectors: redirect URIs, cookies, variables, tokens of a connection.
 * Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const CONNECTOR_DEFENCES: DefencesByFile = {
  "apps/platform/src/oauth/connections.ts": {
    "A refresh replaces the tokens it began with whatever else changes in the connection (tokens have their own revision)":
      {
        find: "        if (kept?.data.tokensRevision !== replacing) return undefined;",
        replace: "        if (kept?.data.revision !== replacing) return undefined;",
      },
    "A new authorization that completes during a refresh wins over the refreshed tokens": {
      find: "        if (kept?.data.tokensRevision !== replacing) return undefined;",
      replace: "        if (kept === undefined) return undefined;",
    },
    "A connection is ended only if it still has the tokens that did not work": {
      find: "        if (kept?.data.tokensRevision !== used) return undefined;",
      replace: '        if (kept === undefined || used === "") return undefined;',
      tests: ["apps/platform/src/oauth/connect.test.ts"],
    },
    "Connections made with other credentials than the present settings are not used": {
      find: '  return state === "connected" && recipient !== recipientOfConnector(connector);',
      replace: '  return state === "connected" && recipient === recipientOfConnector(connector) + "x";',
      tests: ["apps/platform/src/oauth/connect.test.ts"],
    },
  },
  "apps/platform/src/oauth/bearer.ts": {
    "A refresh that finds the old grant ended leaves a newer connection alone and uses it": {
      find: "        if (kept !== undefined && kept.revision !== revision) return bearerOf(kept);",
      replace: '        if (kept !== undefined && revision === "") return bearerOf(kept);',
      tests: ["apps/platform/src/oauth/connections.test.ts"],
    },
  },
  "apps/platform/src/oauth/redirect-uri.ts": {
    "A hosted server has a redirect URI that no other connector has": {
      find: 'const isOwn = isHosted(connector) && connector.callback === "own";',
      replace: 'const isOwn = isHosted(connector) && connector.id === "";',
    },
    "A server whose own endpoints were entered as those of a vendor has its own redirect URI": {
      find: "return origin !== undefined && [",
      replace: 'return origin === "" && [',
    },
    "A connector of an earlier release, or with --shared-callback, causes a warning": {
      find: '  if (!isHosted(connector) || connector.callback === "own") return undefined;',
      replace: '  if (!isHosted(connector) || connector.id !== "") return undefined;',
    },
  },
  "packages/broker-client/src/callback.ts": {
    "An answer is redeemed only at the path of the redirect URI its flow began with": {
      find: "  if (url.pathname !== asked.pathname) {",
      replace: '  if (url.pathname === "" && asked.pathname === "") {',
    },
  },
  "apps/platform/src/oauth/recipient.ts": {
    "Tokens granted under one redirect URI of a hosted server are not used under another (the recipient names it)": {
      find: 'callback === "own" ? ["own callback"] : [];',
      replace: 'callback === "own" ? [""].slice(1) : [];',
      tests: ["apps/platform/src/oauth/redirect-uri.test.ts"],
    },
  },
  "apps/platform/src/ingress/cookies.ts": {
    "The ingress forwards only cookies that carry the connector's name": {
      find: '  return name !== "" && marked(name, connectorId) === received ? name : undefined;',
      replace: '  return name === "" ? undefined : received;',
    },
    "A cookie without the conditions of __Host- is never forwarded as a __Host- cookie": {
      find: '  return name !== "" && marked(name, connectorId) === received ? name : undefined;',
      replace: '  return name !== "" && received.startsWith(prefix + connectorId + MARK) ? name : undefined;',
    },
    "The ingress puts the connector's name in front of every cookie a server sets": {
      find: "  const renamed = `${marked(name, connectorId)}=${value}`;",
      replace: '  const renamed = `${connectorId === "" ? marked(name, connectorId) : name}=${value}`;',
      tests: ["apps/platform/src/ingress/cookies.test.ts", "apps/platform/src/ingress/ingress.test.ts"],
    },
    "A cookie of a deployed server stays with its host: Domain is removed": {
      find: "attributes.filter((attribute) => !DOMAIN.test(attribute))",
      replace: 'attributes.filter((attribute) => DOMAIN.test(attribute) || attribute !== "\\0")',
    },
    "A Set-Cookie without a name does not pass: browsers would send its value as a cookie of any name": {
      find: '  if (name === "") return undefined;',
      replace: '  if (name === "\\0") return undefined;',
    },
  },
  "apps/platform/src/ingress/forwarded-headers.ts": {
    "Clear-Site-Data does not pass the ingress: it would empty the jar of the whole host": {
      find: ".add(OF_THE_HOST);",
      replace: ".add(OF_THE_HOST.slice(1));",
      tests: ["apps/platform/src/ingress/cookies.test.ts"],
    },
  },
  "apps/platform/src/deploy/service-file/allowed-variables.ts": {
    "A server gets only those variables of the deployer that the deployer names with --env": {
      find: "  return allowed.includes(name);",
      replace: '  return allowed.includes(name) || name !== "";',
      tests: ["apps/platform/src/deploy/service-file/service-file.test.ts", "apps/platform/src/deploy/deploy.test.ts"],
    },
  },
  "apps/platform/src/oauth/connect.ts": {
    "A connect flow is finished in the browser session that started it, and in no other": {
      find: "  return sessionId;",
      replace: "  return sessionId.slice(0, 1).slice(1);",
    },
    "Tokens of a client that is no longer the connector's are not stored as those of the new one": {
      find: "  if (recipient === recipientOfConnector(connector)) return;",
      replace: '  if (recipient !== recipientOfConnector(connector) || recipient !== "") return;',
    },
    "Users are asked for no scope beyond those an administrator entered, whatever a server requests": {
      find: "  return scopes === undefined || isSubset(parseScope(scope), parseScope(scopes));",
      replace: '  return scopes === undefined || isSubset(parseScope(scope), parseScope(scopes)) || scope !== "";',
    },
  },
  "apps/platform/src/oauth/hosted-server/protected-resource.ts": {
    "Codes and tokens of a hosted server's users are sent to its own origin only": {
      find: "  if (URL.parse(url)?.origin === origin) return;",
      replace: '  if (URL.parse(url)?.origin === origin || origin !== "") return;',
      tests: ["apps/platform/src/oauth/hosted-server/discover.test.ts"],
    },
  },
  "apps/platform/src/connectors/connector-secrets.ts": {
    "A secret that was entered for one client and token endpoint does not open for another": {
      find: "  ...secretRecipient(settings),",
      replace: "  ...secretRecipient(settings).slice(9),",
      tests: ["apps/platform/src/connectors/store-on-records.test.ts"],
    },
  },
  "apps/platform/src/routes/guard.ts": {
    "A form of the platform counts only from the browser it was shown to": {
      find: '  if (cookie !== undefined && isFormToken(fields.get("csrf"), path, cookie)) return;',
      replace: '  if (cookie === undefined || isFormToken(fields.get("csrf"), path, cookie) || path !== "") return;',
      tests: ["apps/platform/src/routes/routes.test.ts"],
    },
  },
};
