/**
 * Defences of what users share at a deployed server, and of what its pages and sealed
 * values say about whom. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const SHARE_DEFENCES: DefencesByFile = {
  "packages/mcp-auth/src/hosted/pages/pending-tokens.ts": {
    "A thousand questions wait at most": {
      rows: ["ST-8"],
      find: "if (open.length - tooMany.length >= limits.waiting || listed",
      replace: "if (listed",
    },
    "The index of the questions has a bound with those that are due": {
      find: " || listed.length >= limits.listed",
      replace: "",
    },
    "A question that is due takes no place": {
      find: "const open = listed.filter((other) => other.until > now());",
      replace: "const open = listed.filter((other) => other.until > 0);",
    },
    "One user has a share of the waiting questions": {
      rows: ["ST-8"],
      find: "own.length + 1 - limits.ofUser",
      replace: "own.length - own.length",
    },
    "A user's question ends no other user's": {
      find: "open.filter((other) => other.owner === owner)",
      replace: "open.filter((other) => other.owner !== undefined)",
    },
  },
  "packages/mcp-auth/src/hosted/pages/connections.ts": {
    "The page says that a vendor is connected only where it is": {
      find: 'vendor === linked && state === "usable"',
      replace: 'vendor === linked && state !== "unreadable"',
      tests: ["packages/mcp-auth/src/hosted/pages/between-steps.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/elicitation/request-state.ts": {
    "A requestState is of a user of its sign-in vendor and issuer": {
      rows: ["LK-4"],
      find: '["request-state", vendor, issuer, user,',
      replace: '["request-state", vendor.slice(0, 0), issuer.slice(0, 0), user,',
      tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/elicitation/url-elicitation.ts": {
    "A Mcp-Session-Id is of a user of its sign-in vendor and issuer": {
      find: '["mcp-session", vendor, issuer, user,',
      replace: '["mcp-session", vendor.slice(0, 0), issuer.slice(0, 0), user,',
      tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
    },
  },
};
