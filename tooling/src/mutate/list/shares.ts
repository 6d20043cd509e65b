/**
 * Defences of what users share at a deployed server, and of what its pages and sealed
 * values say about whom. Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const PAGES = "packages/mcp-auth/src/hosted/pages";
const ELICITATION = "packages/mcp-auth/src/mcp/elicitation";

export const SHARE_DEFENCES: readonly Mutation[] = [
  {
    defence: "A thousand questions wait at most",
    rows: ["ST-8"],
    file: `${PAGES}/pending-tokens.ts`,
    find: "if (open.length - tooMany.length >= limits.waiting || listed",
    replace: "if (listed",
    tests: [`${PAGES}/pending-tokens.test.ts`],
  },
  {
    defence: "The index of the questions has a bound with those that are due",
    file: `${PAGES}/pending-tokens.ts`,
    find: " || listed.length >= limits.listed",
    replace: "",
    tests: [`${PAGES}/pending-tokens.test.ts`],
  },
  {
    defence: "A question that is due takes no place",
    file: `${PAGES}/pending-tokens.ts`,
    find: "const open = listed.filter((other) => other.until > now());",
    replace: "const open = listed.filter((other) => other.until > 0);",
    tests: [`${PAGES}/pending-tokens.test.ts`],
  },
  {
    defence: "One user has a share of the waiting questions",
    rows: ["ST-8"],
    file: `${PAGES}/pending-tokens.ts`,
    find: "own.length + 1 - limits.ofUser",
    replace: "own.length - own.length",
    tests: [`${PAGES}/pending-tokens.test.ts`],
  },
  {
    defence: "A user's question ends no other user's",
    file: `${PAGES}/pending-tokens.ts`,
    find: "open.filter((other) => other.owner === owner)",
    replace: "open.filter((other) => other.owner !== undefined)",
    tests: [`${PAGES}/pending-tokens.test.ts`],
  },
  {
    defence: "The page says that a vendor is connected only where it is",
    file: `${PAGES}/connections.ts`,
    find: 'vendor === linked && state === "usable"',
    replace: 'vendor === linked && state !== "unreadable"',
    tests: [`${PAGES}/between-steps.test.ts`],
  },
  {
    defence: "A requestState is of a user of its sign-in vendor and issuer",
    rows: ["LK-4"],
    file: `${ELICITATION}/request-state.ts`,
    find: '["request-state", vendor, issuer, user,',
    replace: '["request-state", vendor.slice(0, 0), issuer.slice(0, 0), user,',
    tests: [`${ELICITATION}/attacks.test.ts`],
  },
  {
    defence: "A Mcp-Session-Id is of a user of its sign-in vendor and issuer",
    file: `${ELICITATION}/url-elicitation.ts`,
    find: '["mcp-session", vendor, issuer, user,',
    replace: '["mcp-session", vendor.slice(0, 0), issuer.slice(0, 0), user,',
    tests: [`${ELICITATION}/attacks.test.ts`],
  },
];
