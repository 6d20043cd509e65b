/** Defences of apps/platform/src. list.ts says how to read an entry. */
import type { Defences } from "../mutation.ts";

export const PLATFORM_DEFENCES: Defences = {
  "agent/link-question.ts": {
    "link-question, routes/try: Of a server's URL only https is offered, and http on loopback":
      'if (!isOpen{+ && text === ""+}) return { refused',
    "link-question, routes/try: A server's URL with user information is not offered":
      'if (url.username [-!== "" || url.password !== "-]{+=== " " || url.password === " +}',
    "link-question, routes/try: A server's URL with Punycode is marked": 'label.startsWith("xn--"{+, 64+})',
    "link-question, routes/try: The user's answer accepts no URL that was not offered":
      '" in url && answer === "accept" ? "[-cancel-]{+accept+}"',
  },
  "agent/pending-calls.ts": {
    "routes/try: A waiting call is answered once": 'return outcome [-=== "moved-]{+!== "absent+}" ?',
    "routes/try: A waiting call is the browser session's that made it":
      ": JSON.stringify([connectorId, sessionId{+.slice(0, 0)+},",
    "routes/try: A server that asks without end is not asked again": "if (pending.round > MAX_ROUNDS{+ * 9+}) {",
  },
  "connectors/connector-secrets.ts": {
    "store-on-records: bar#BY-2 bar#BY-4 A connector's secret opens only for what it was entered for":
      "...secretRecipient(settings){+.slice(0, 0)+},",
  },
  "deploy/service-file/allowed-variables.ts": {
    "service-file/service-file, deploy/deploy: A server gets only those variables of the deployer that the deployer names with --env":
      'return allowed.includes(name){+ || name !== ""+};',
  },
  "ingress/cookies.ts": {
    "The ingress forwards only cookies that carry the connector's name":
      '[-!== "" && marked(name, connectorId) === received ? name : undefined-]{+=== "" ? undefined : received+}',
    "A cookie without the conditions of __Host- is never forwarded as a __Host- cookie":
      "[-marked(name, connectorId) === received-]{+received.startsWith(prefix + connectorId + MARK)+}",
    "A cookie of a deployed server stays with its host: Domain is removed":
      '[-!DOMAIN.test(attribute)-]{+DOMAIN.test(attribute) || attribute !== "\\0"+}',
    "A Set-Cookie without a name does not pass: browsers would send its value as a cookie of any name":
      'if (name === "{+\\0+}") return undefined;',
    "cookies, ingress: The ingress puts the connector's name in front of every cookie a server sets":
      'const renamed = `${{+connectorId === "" ? +}marked(name, connectorId){+ : name+}}=${value}`;',
  },
  "ingress/forwarded-headers.ts": {
    "cookies: Clear-Site-Data does not pass the ingress: it would empty the jar of the whole host":
      ".add(OF_THE_HOST{+.slice(1)+});",
    "ingress: bar#HT-6 A caller's forwarded headers are removed": "!OF_PROXIES.test([-name-]{+`${name} `+}) &&",
  },
  "ingress/authenticate.ts": {
    "ingress: The ingress passes OPTIONS /mcp alone without a token, not every method":
      'method [-=== "OPTIONS-]{+!== "+}" && path === MCP &&',
    "ingress: The ingress passes OPTIONS /mcp alone without a token, not every path":
      'method === "OPTIONS" && path[- === MCP-]{+.length >= MCP.length - 3+} &&',
    "ingress: Nothing passes the ingress without a token to a server without a check of its own":
      'path === MCP[- && upstream.mode !== "none"-]) return',
  },
  "oauth/bearer.ts": {
    "oauth/connections: A refresh that finds the old grant ended leaves a newer connection alone and uses it":
      'if (kept !== undefined && [-kept.revision !== revision-]{+revision === ""+}',
  },
  "oauth/connect.ts": {
    "Users are asked for no scope beyond those an administrator entered, whatever a server requests":
      'parseScope(scopes)){+ || scope !== ""+}',
    "bar#XA-7 A connect flow is finished in the session that started it": "return {+typeof +}sessionId;",
  },
  "oauth/connections.ts": {
    "A refresh replaces the tokens it began with whatever else changes in the connection (tokens have their own revision)":
      "if (kept?.data.[-tokensRevision-]{+revision+} !== replacing) return undefined;",
    "A new authorization that completes during a refresh wins over the refreshed tokens":
      "if (kept[-?.data.tokensRevision !== replacing-]{+ === undefined+}) return undefined;",
    "oauth/connect: A connection is ended only if it still has the tokens that did not work":
      'if (kept[-?.data.tokensRevision !== used-]{+ === undefined || used === ""+}) return undefined;',
  },
  "oauth/hosted-server/protected-resource.ts": {
    "hosted-server/discover: Codes and tokens of a hosted server's users are sent to its own origin only":
      'if (href.startsWith([-`${origin}/`-]{+""+})) return;',
  },
  "oauth/recipient.ts": {
    "oauth/redirect-uri: Tokens granted under one redirect URI of a hosted server are not used under another (the recipient names it)":
      'callback === "own" ? ["[-own callback"]-]{+"].slice(1)+} : [];',
  },
  "oauth/redirect-uri.ts": {
    "A hosted server has a redirect URI that no other connector has":
      'const isOwn = isHosted(connector) && connector.[-callback === "own-]{+id === "+}";',
    "A server whose own endpoints were entered as those of a vendor has its own redirect URI":
      'return origin [-!== undefined-]{+=== ""+} && [',
    "A connector of an earlier release, or with --shared-callback, causes a warning":
      'if (!isHosted(connector) || connector.[-callback === "own-]{+id !== "+}") return undefined;',
  },
  "routes/guard.ts": {
    "routes/routes: bar#AS-7 A form of the platform counts only in the browser it was shown to":
      '[-&& isFormToken(fields.get("csrf"), c.req.path, cookie-]{+|| isFormToken(fields.get("csrf"), c.req.path, cookie as never+}',
    "routes/routes: Settings are for administrators": "if (!user.isAdministrator{+ && user.id === ''+}) throw",
  },
};
