/** Defences of calls of a server of several vendors. Part of list.ts. */
import type { DefencesByFile } from "../mutation.ts";

export const LINKED_CALL_DEFENCES: DefencesByFile = {
  "packages/mcp-auth/src/mcp/elicitation/request-state.ts": {
    "A requestState is of its user": {
      find: '["request-state", vendor, issuer, user,',
      replace: '["request-state", vendor, issuer, typeof user,',
      tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
    },
    "A requestState is of its client": {
      find: 'clientId ?? ""',
      replace: "typeof clientId",
      tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
    },
    "A requestState is of its tool": {
      find: ", tool, hashOf(",
      replace: ", typeof tool, hashOf(",
      tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
    },
    "A requestState is of its arguments": {
      find: "hashOf(canonicalJson(given ?? {}))",
      replace: "hashOf(canonicalJson(typeof given))",
      tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
    },
    "A requestState lives as long as its tickets": {
      find: "expiresAt > now() ? tickets : undefined",
      replace: "expiresAt > 0 || now() > 0 ? tickets : undefined",
      tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/elicitation/exchange.ts": {
    "A requestState of ours is refused in every call it was not made for, also of a tool registered with the SDK": {
      find: 'requestState === "" || requestState.startsWith(STATE_PREFIX)',
      replace: 'requestState === "" || requestState === STATE_PREFIX',
      tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
    },
    "A requestState that is no string of ours is refused for a tool of the definition": {
      find: "return call === undefined || !toolNames.has(call.tool);",
      replace: "return call === undefined || toolNames.size > 0;",
      tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/elicitation/url-elicitation.ts": {
    "A Mcp-Session-Id is of its user and client": {
      find: 'vendor, issuer, user, clientId ?? ""]',
      replace: "vendor, issuer, typeof user, typeof clientId]",
      tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/elicitation/find-links.ts": {
    "A user is asked for no scope that the session lacks": {
      find: "session.includes(scope) && configured.includes(scope)",
      replace: "session.length >= 0 && configured.includes(scope)",
      tests: ["packages/mcp-auth/src/mcp/elicitation/lacking-scopes.test.ts"],
    },
    "A user is asked for no scope that the deployment does not have": {
      find: "configured.includes(scope));",
      replace: "configured.length >= 0);",
      tests: ["packages/mcp-auth/src/mcp/elicitation/lacking-scopes.test.ts"],
    },
    "A user is asked for no scope that only the vendor names": {
      find: "if (!scopes.every((scope) => permitted.includes(scope))) return undefined;",
      replace: "if (permitted.length === 0) return undefined;",
      tests: ["packages/mcp-auth/src/mcp/elicitation/lacking-scopes.test.ts"],
    },
    "A tool runs only when its link has the scopes it lists": {
      find: 'link.state !== "usable" || lacking.length > 0 ||',
      replace: 'link.state !== "usable" ||',
      tests: ["packages/mcp-auth/src/mcp/elicitation/lacking-scopes.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/tools/insufficient-scope.ts": {
    "Of the scopes that a vendor's headers accept, those count that may be asked for": {
      find: "inHeaders(answer, scopeRefusal).filter((scope) => askable.includes(scope))",
      replace: "inHeaders(answer, scopeRefusal).filter((scope) => askable !== undefined || scope)",
    },
    "A vendor's scopes are read where all of them are scopes": {
      find: "tokens.every(isScopeToken)",
      replace: "tokens.every((token) => isScopeToken(token) || token.length > 0)",
    },
    "A long body of a vendor is not decoded in search of scopes": {
      find: "createByteCollector(MOST_BYTES)",
      replace: "createByteCollector(MOST_BYTES * 100)",
    },
  },
  "packages/mcp-auth/src/mcp/elicitation/run-linked.ts": {
    "A call that may have had effects is not repeated by the client": {
      find: "return annotations.readOnlyHint === true || annotations.idempotentHint === true;",
      replace: "return annotations.readOnlyHint !== false;",
      tests: ["packages/mcp-auth/src/mcp/elicitation/lacking-scopes.test.ts"],
    },
    "A ticket that the client declined or cancelled ends": {
      find: "for (const { id } of left) await linked.links.cancel(id);",
      replace: "",
      tests: ["packages/mcp-auth/src/mcp/elicitation/stock-clients.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/elicitation/waiting.ts": {
    "A user's calls that wait are few": {
      find: "before >= MOST_WAITING",
      replace: "before >= MOST_WAITING * 100",
      tests: ["packages/mcp-auth/src/mcp/elicitation/exchange.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/calls/tool-answer.ts": {
    "A vendor's document that a tool returns asks the user for nothing": {
      find: "every((member) => PLAIN_MEMBERS.has(member))",
      replace: 'every((member) => PLAIN_MEMBERS.has(member) || member !== "")',
      tests: ["packages/mcp-auth/src/mcp/endpoint.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/call-policy.ts": {
    "A linked vendor's token goes to that vendor's hosts": {
      find: "{ ...deps, ...vendor, scopeReading }",
      replace: "{ ...deps, ...vendor, apiHosts: deps.apiHosts, scopeReading }",
      tests: ["packages/mcp-auth/src/mcp/elicitation/vendors-apart.test.ts"],
    },
  },
};
