/** Defences of calls of a server of several vendors. Part of list.ts. */
import type { Mutation } from "../mutation.ts";

const ELICITATION = "packages/mcp-auth/src/mcp/elicitation";
const TOOLS = "packages/mcp-auth/src/mcp/tools";
const ATTACKS = [`${ELICITATION}/attacks.test.ts`];

export const LINKED_CALL_DEFENCES: readonly Mutation[] = [
  {
    defence: "A requestState is of its user",
    file: `${ELICITATION}/request-state.ts`,
    find: '["request-state", vendor, issuer, user,',
    replace: '["request-state", vendor, issuer, typeof user,',
    tests: ATTACKS,
  },
  {
    defence: "A requestState is of its client",
    file: `${ELICITATION}/request-state.ts`,
    find: 'clientId ?? ""',
    replace: "typeof clientId",
    tests: ATTACKS,
  },
  {
    defence: "A requestState is of its tool",
    file: `${ELICITATION}/request-state.ts`,
    find: ", tool, hashOf(",
    replace: ", typeof tool, hashOf(",
    tests: ATTACKS,
  },
  {
    defence: "A requestState is of its arguments",
    file: `${ELICITATION}/request-state.ts`,
    find: "hashOf(canonicalJson(given ?? {}))",
    replace: "hashOf(canonicalJson(typeof given))",
    tests: ATTACKS,
  },
  {
    defence: "A requestState lives as long as its tickets",
    file: `${ELICITATION}/request-state.ts`,
    find: "expiresAt > now() ? tickets : undefined",
    replace: "expiresAt > 0 || now() > 0 ? tickets : undefined",
    tests: ATTACKS,
  },
  {
    defence:
      "A requestState of ours is refused in every call it was not made for, also of a tool registered with the SDK",
    file: `${ELICITATION}/exchange.ts`,
    find: 'requestState === "" || requestState.startsWith(STATE_PREFIX)',
    replace: 'requestState === "" || requestState === STATE_PREFIX',
    tests: ATTACKS,
  },
  {
    defence: "A requestState that is no string of ours is refused for a tool of the definition",
    file: `${ELICITATION}/exchange.ts`,
    find: "return call === undefined || !toolNames.has(call.tool);",
    replace: "return call === undefined || toolNames.size > 0;",
    tests: ATTACKS,
  },
  {
    defence: "A Mcp-Session-Id is of its user and client",
    file: `${ELICITATION}/url-elicitation.ts`,
    find: 'vendor, issuer, user, clientId ?? ""]',
    replace: "vendor, issuer, typeof user, typeof clientId]",
    tests: ATTACKS,
  },
  {
    defence: "A user is asked for no scope that the session lacks",
    file: `${ELICITATION}/find-links.ts`,
    find: "session.includes(scope) && configured.includes(scope)",
    replace: "session.length >= 0 && configured.includes(scope)",
    tests: [`${ELICITATION}/lacking-scopes.test.ts`],
  },
  {
    defence: "A user is asked for no scope that the deployment does not have",
    file: `${ELICITATION}/find-links.ts`,
    find: "configured.includes(scope));",
    replace: "configured.length >= 0);",
    tests: [`${ELICITATION}/lacking-scopes.test.ts`],
  },
  {
    defence: "A user is asked for no scope that only the vendor names",
    file: `${ELICITATION}/find-links.ts`,
    find: "if (!scopes.every((scope) => permitted.includes(scope))) return undefined;",
    replace: "if (permitted.length === 0) return undefined;",
    tests: [`${ELICITATION}/lacking-scopes.test.ts`],
  },
  {
    defence: "Of the scopes that a vendor's headers accept, those count that may be asked for",
    file: `${TOOLS}/insufficient-scope.ts`,
    find: "inHeaders(answer, scopeRefusal).filter((scope) => askable.includes(scope))",
    replace: "inHeaders(answer, scopeRefusal).filter((scope) => askable !== undefined || scope)",
    tests: [`${TOOLS}/insufficient-scope.test.ts`],
  },
  {
    defence: "A vendor's scopes are read where all of them are scopes",
    file: `${TOOLS}/insufficient-scope.ts`,
    find: "tokens.every(isScopeToken)",
    replace: "tokens.every((token) => isScopeToken(token) || token.length > 0)",
    tests: [`${TOOLS}/insufficient-scope.test.ts`],
  },
  {
    defence: "A long body of a vendor is not decoded in search of scopes",
    file: `${TOOLS}/insufficient-scope.ts`,
    find: "createByteCollector(MOST_BYTES)",
    replace: "createByteCollector(MOST_BYTES * 100)",
    tests: [`${TOOLS}/insufficient-scope.test.ts`],
  },
  {
    defence: "A tool runs only when its link has the scopes it lists",
    file: `${ELICITATION}/find-links.ts`,
    find: 'link.state !== "usable" || lacking.length > 0 ||',
    replace: 'link.state !== "usable" ||',
    tests: [`${ELICITATION}/lacking-scopes.test.ts`],
  },
  {
    defence: "A call that may have had effects is not repeated by the client",
    file: `${ELICITATION}/run-linked.ts`,
    find: "return annotations.readOnlyHint === true || annotations.idempotentHint === true;",
    replace: "return annotations.readOnlyHint !== false;",
    tests: [`${ELICITATION}/lacking-scopes.test.ts`],
  },
  {
    defence: "A ticket that the client declined or cancelled ends",
    file: `${ELICITATION}/run-linked.ts`,
    find: "for (const { id } of left) await linked.links.cancel(id);",
    replace: "",
    tests: [`${ELICITATION}/stock-clients.test.ts`],
  },
  {
    defence: "A user's calls that wait are few",
    file: `${ELICITATION}/waiting.ts`,
    find: "before >= MOST_WAITING",
    replace: "before >= MOST_WAITING * 100",
    tests: [`${ELICITATION}/exchange.test.ts`],
  },
  {
    defence: "A vendor's document that a tool returns asks the user for nothing",
    file: "packages/mcp-auth/src/mcp/calls/tool-answer.ts",
    find: "every((member) => PLAIN_MEMBERS.has(member))",
    replace: 'every((member) => PLAIN_MEMBERS.has(member) || member !== "")',
    tests: ["packages/mcp-auth/src/mcp/endpoint.test.ts"],
  },
  {
    defence: "A linked vendor's token goes to that vendor's hosts",
    file: "packages/mcp-auth/src/mcp/call-policy.ts",
    find: "{ ...deps, ...vendor, scopeReading }",
    replace: "{ ...deps, ...vendor, apiHosts: deps.apiHosts, scopeReading }",
    tests: [`${ELICITATION}/vendors-apart.test.ts`],
  },
];
