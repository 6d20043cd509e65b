/**
 * Defences between the steps of a deployed server: what has changed since a page was shown, a call
 * was admitted or a check began. Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const PAGES = "packages/mcp-auth/src/hosted/pages";
const HOSTED = "packages/mcp-auth/src/hosted";
const STEPS = [`${PAGES}/between-steps.test.ts`];

export const SERVER_STEP_DEFENCES: readonly Mutation[] = [
  {
    defence: "A link of a user who signed out while the code was redeemed is not stored",
    rows: ["LK-9"],
    file: `${PAGES}/flows.ts`,
    find: 'const signedIn = await deps.signIns.read(visit.cookieHeader);\n  const { user = "", listed,',
    replace:
      'const gone = { user: flow.user ?? "", label: "", cookie: { value: "", hash: "" } };\n  const signedIn = (await deps.signIns.read(visit.cookieHeader)) ?? gone;\n  const { user = "", listed,',
    tests: STEPS,
  },
  {
    defence: "Tokens of a user who signed out meanwhile are revoked",
    file: `${PAGES}/flows.ts`,
    find: "    await discardTokens(tokenSetOf(tokens, deps.now()), dropped, atVendor(listed, deps)).catch(() => undefined);",
    replace: "    void [discardTokens, tokenSetOf, atVendor, dropped];",
    tests: STEPS,
  },
  {
    defence: "The pages' sign-in asks for no refresh token",
    file: `${PAGES}/flows.ts`,
    find: "vendor: { ...vendor.vendor, offlineScopes: [] } };",
    replace: "vendor: { ...vendor.vendor } };",
    tests: STEPS,
  },
  {
    defence: "The default scopes that identify a user ask for no refresh token",
    file: `${HOSTED}/link-policy/scope.ts`,
    find: ".filter((scope) => !offline.includes(scope));",
    replace: ".filter((scope) => scope !== offline.join());",
    tests: STEPS,
  },
  {
    defence: "A question is asked over the version that the page showed",
    file: `${PAGES}/store-link.ts`,
    find: "if (present !== linkVersion) return",
    replace: "if (present < 0) return",
    tests: STEPS,
  },
  {
    defence: "A question is shown to its user alone",
    file: `${PAGES}/connections.ts`,
    find: "waiting?.user === user ? waiting",
    replace: 'waiting?.user !== "" ? waiting',
    tests: STEPS,
  },
  {
    defence: "A question is answered by its user alone",
    file: `${PAGES}/connections.ts`,
    find: "pending.user !== user)",
    replace: 'pending.user === "")',
    tests: STEPS,
  },
  {
    defence: "After a sign-in a browser goes back to a ticket's path alone",
    file: `${PAGES}/connect.ts`,
    find: ".test(value) ? `${PATHS.connect}",
    replace: '.test(value) || value !== "" ? `${PATHS.connect}',
    tests: STEPS,
  },
  {
    defence: "The ticket of *Use another account* is one",
    file: `${PAGES}/connections.ts`,
    find: "/^[A-Za-z0-9_-]{43}$/.exec(form",
    replace: "/^.+$/.exec(form",
    tests: STEPS,
  },
  {
    defence: "A ticket is of its sign-in vendor, also when it is decided",
    file: `${HOSTED}/tickets/tickets.ts`,
    find: "!isSameSource({ vendor: ticket.signIn, issuer: ticket.issuer }, source)",
    replace: "!isSameSource({ ...source, issuer: source.issuer }, source)",
    tests: [`${HOSTED}/tickets/tickets.test.ts`],
  },
  {
    defence: "A call goes on with tokens of the same account alone",
    rows: ["LK-10"],
    file: `${HOSTED}/links/token-source.ts`,
    find: "if (isWithin && isSameAccount) return;",
    replace: "if (isWithin && isSameAccount !== undefined) return;",
    tests: [`${HOSTED}/tickets/caller-links.test.ts`],
  },
  {
    defence: "Parked tokens are sealed under a server key besides our code",
    rows: ["TS-3"],
    file: `${HOSTED}/server-callback/policy.ts`,
    find: 'await serverKey.derive("parked-tokens"), Buffer',
    replace: '(await serverKey.derive("parked-tokens")).subarray(0, 0), Buffer',
    tests: [`${HOSTED}/server-callback/policy.test.ts`],
  },
  {
    defence: "A requestState has eight kilobytes at most",
    file: "packages/mcp-auth/src/mcp/elicitation/request-state.ts",
    find: "|| state.length > MOST_CHARACTERS",
    replace: "|| state.length > 100 * MOST_CHARACTERS",
    tests: ["packages/mcp-auth/src/mcp/elicitation/attacks.test.ts"],
  },
  {
    defence: "The operator's private networks are closed to client documents",
    rows: ["AS-13"],
    file: `${HOSTED}/clients/metadata-document.ts`,
    find: "allowCidrs: [],",
    replace: 'allowCidrs: ["10.0.0.0/8"],',
    tests: [`${HOSTED}/clients/metadata-document-network.test.ts`],
  },
  {
    defence: "A refusal by the vendor's API beats a check that began before it",
    file: "packages/mcp-auth/src/pre-registered/authenticate.ts",
    find: "if (asked.get(key) === asking)\n        keep",
    replace: "if (asked.size >= 0)\n        keep",
    tests: ["packages/mcp-auth/src/pre-registered/authenticate.test.ts"],
  },
  {
    defence: "A vendor's verdict is kept for seconds",
    file: "packages/mcp-auth/src/pre-registered/authenticate.ts",
    find: "VALIDATION_SECONDS = 10;",
    replace: "VALIDATION_SECONDS = 3600;",
    tests: ["packages/mcp-auth/src/pre-registered/authenticate.test.ts"],
  },
  {
    defence: "What is forgotten is a link that has ended",
    rows: ["LK-9"],
    file: "packages/token-store/src/links.ts",
    find: 'if (row === undefined || statusOf(row.attributes) !== "revoked") return;\n  const set = { ttl',
    replace: "if (row === undefined) return;\n  const set = { ttl",
    tests: ["packages/token-store/src/links.test.ts"],
  },
  {
    defence: "A link made while another is forgotten stays",
    rows: ["LK-9"],
    file: "packages/token-store/src/links.ts",
    find: '{ set, remove }, expectAsRead(row.attributes, ["version", "status", LINK_VERSION]));\n}\n\n/** All but',
    replace: "{ set, remove }, expectAsRead(row.attributes, []));\n}\n\n/** All but",
    tests: ["packages/token-store/src/links.test.ts"],
  },
  {
    defence: "The attempt that a row names is a file in the journal's folder",
    rows: ["TS-3"],
    file: "packages/token-store/src/refresh/journal.ts",
    find: "if (!NAME.test(name)) return undefined;",
    replace: 'if (!NAME.test(name) && name === "") return undefined;',
    tests: ["packages/token-store/src/refresh/journal.test.ts"],
  },
];
