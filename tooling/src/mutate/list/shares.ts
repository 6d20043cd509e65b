/**
 * Defences of what users share at a deployed server, and of what its pages and sealed
 * values say about whom. Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const LINKING = "packages/mcp-auth/src/hosted/linking";
const CALLS = "packages/mcp-auth/src/mcp/linking";

export const SHARE_DEFENCES: readonly Mutation[] = [
  {
    defence: "A thousand questions wait at most",
    rows: ["ST-8"],
    file: `${LINKING}/questions.ts`,
    find: "if (open.length - tooMany.length >= limits.waiting || listed",
    replace: "if (listed",
    tests: [`${LINKING}/questions.test.ts`],
  },
  {
    defence: "The index of the questions has a bound with those that are due",
    file: `${LINKING}/questions.ts`,
    find: " || listed.length >= limits.listed",
    replace: "",
    tests: [`${LINKING}/questions.test.ts`],
  },
  {
    defence: "A question that is due takes no place",
    file: `${LINKING}/questions.ts`,
    find: "const open = listed.filter((other) => other.until > now());",
    replace: "const open = listed.filter((other) => other.until > 0);",
    tests: [`${LINKING}/questions.test.ts`],
  },
  {
    defence: "One user has a share of the waiting questions",
    rows: ["ST-8"],
    file: `${LINKING}/questions.ts`,
    find: "own.length + 1 - limits.ofUser",
    replace: "own.length - own.length",
    tests: [`${LINKING}/questions.test.ts`],
  },
  {
    defence: "A user's question ends no other user's",
    file: `${LINKING}/questions.ts`,
    find: "open.filter((other) => other.owner === owner)",
    replace: "open.filter((other) => other.owner !== undefined)",
    tests: [`${LINKING}/questions.test.ts`],
  },
  {
    defence: "The page says that a vendor is connected only where it is",
    file: `${LINKING}/connections.ts`,
    find: 'vendor === linked && state === "usable"',
    replace: 'vendor === linked && state !== "unreadable"',
    tests: [`${LINKING}/between-steps.test.ts`],
  },
  {
    defence: "A requestState is of a user of its sign-in vendor and issuer",
    rows: ["LK-4"],
    file: `${CALLS}/request-state.ts`,
    find: '["request-state", vendor, issuer, user,',
    replace: '["request-state", vendor.slice(0, 0), issuer.slice(0, 0), user,',
    tests: [`${CALLS}/attacks.test.ts`],
  },
  {
    defence: "A Mcp-Session-Id is of a user of its sign-in vendor and issuer",
    file: `${CALLS}/url-elicitation.ts`,
    find: '["mcp-session", vendor, issuer, user,',
    replace: '["mcp-session", vendor.slice(0, 0), issuer.slice(0, 0), user,',
    tests: [`${CALLS}/attacks.test.ts`],
  },
];
