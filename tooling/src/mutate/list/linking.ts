/**
 * Defences of a server with several vendors: tickets, the pages' own sign-in, and the flows of
 * links. Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const PAGES = "packages/mcp-auth/src/hosted/pages";
const TICKETS = "packages/mcp-auth/src/hosted/tickets";
const LINKS = "packages/mcp-auth/src/hosted/links";
const HOSTED = "packages/mcp-auth/src/hosted";

export const LINKING_DEFENCES: readonly Mutation[] = [
  {
    defence: "A ticket is found by the value in its URL, not by its id",
    file: `${TICKETS}/tickets.ts`,
    find: "      const id = hashOf(value);\n      const ticket = await read(id);\n      if (ticket?.stage",
    replace: "      const id = value;\n      const ticket = await read(id);\n      if (ticket?.stage",
    tests: [`${TICKETS}/tickets.test.ts`],
  },
  {
    defence: "A ticket is decided once",
    file: `${PAGES}/connect.ts`,
    find: 'if (!(await deps.tickets.decide(id, decision === "approve" ? "approved" : "denied"))) {',
    replace: 'if (!(await deps.tickets.decide(id, decision === "approve" ? "approved" : "denied")) && id === "") {',
    tests: [`${PAGES}/connect.test.ts`],
  },
  {
    defence: "A ticket is dead with its session",
    file: `${TICKETS}/tickets.ts`,
    find: "return session?.isLive === true && session.user === user && session.clientId === clientId;",
    replace: 'return session?.isLive !== undefined || session?.user === user || clientId !== "";',
    tests: [`${TICKETS}/tickets.test.ts`, `${PAGES}/connect.test.ts`],
  },
  {
    defence: "A ticket's state is known to its user and client alone",
    file: `${TICKETS}/tickets.ts`,
    find: "ticket.user === owner.user && ticket.clientId === owner.clientId;",
    replace: "ticket.user === owner.user || ticket.clientId === owner.clientId;",
    tests: [`${TICKETS}/tickets.test.ts`],
  },
  {
    defence: "A ticket of a client that is gone is none",
    file: `${PAGES}/connect.ts`,
    find: "const client = await deps.findClient(ticket.clientId);",
    replace:
      'const client = (await deps.findClient(ticket.clientId)) ?? ({ clientId: "", clientName: "", knownBy: "registration", redirectUris: [] } as const);',
    tests: [`${PAGES}/connect.test.ts`],
  },
  {
    defence: "The pages' flows are bound to the browser that began them",
    file: `${PAGES}/flows.ts`,
    find: "    bindsBrowser: () => true,\n",
    replace: "    bindsBrowser: () => false,\n",
    tests: [`${PAGES}/attacks.test.ts`],
  },
  {
    defence: "A ticket and a link flow are of the user who is signed in",
    file: `${PAGES}/sign-ins.ts`,
    find: "return signedIn !== undefined && signedIn.user === user;",
    replace: "return signedIn !== undefined && signedIn.user !== `${user} of another`;",
    tests: [`${PAGES}/attacks.test.ts`],
  },
  {
    defence: "A link flow needs the sign-in of its user before the vendor's code is sent",
    file: `${PAGES}/flows.ts`,
    find: '  if (flow.purpose !== "link") return;\n',
    replace: '  if (flow.purpose === "link") return;\n',
    tests: [`${PAGES}/attacks.test.ts`],
  },
  {
    defence: "A sign-in ends the one before it in the same browser",
    file: `${PAGES}/flows.ts`,
    find: "  await deps.signIns.end(await deps.signIns.read(visit.cookieHeader));\n",
    replace: "",
    tests: [`${PAGES}/attacks.test.ts`],
  },
  {
    defence: "A sign-in at another vendor counts nowhere else",
    file: `${PAGES}/sign-ins.ts`,
    find: "if (!isSameSource(signIn, source) ||",
    replace: "if (!isSameSource(signIn, signIn) ||",
    tests: [`${HOSTED}/restored-rows.test.ts`],
  },
  {
    defence: "The operator ends a user's sign-ins",
    file: `${PAGES}/sign-ins.ts`,
    find: "{ v: 1, revision: randomToken(16), since: randomToken(16), endedAt }",
    replace: "{ v: 1, revision: randomToken(16), endedAt }",
    tests: [`${PAGES}/sign-ins.test.ts`],
  },
  {
    defence: "The operator ends sign-ins of the release before",
    file: `${PAGES}/sign-ins.ts`,
    find: "startedAt <= endedAtIn(end?.data) ||",
    replace: "startedAt + 86_400 <= endedAtIn(end?.data) ||",
    tests: [`${HOSTED}/restored-rows.test.ts`],
  },
  {
    defence: "A form is taken from the user it was shown to, with what it showed",
    file: `${PAGES}/form-token.ts`,
    find: "return isSameText(sent, await formCsrf(user, { form, linkVersion }, deps)) ? linkVersion : undefined;",
    replace:
      "return isSameText(sent, sent) || (await formCsrf(user, { form, linkVersion }, deps)) === sent ? linkVersion : undefined;",
    tests: [`${PAGES}/connect.test.ts`, `${PAGES}/connections.test.ts`],
  },
  {
    defence: "A form that a browser marks as another site's is refused",
    file: `${PAGES}/routes.ts`,
    find: 'if (site === "same-origin" || site === "none") return;',
    replace: 'if (site !== "") return;',
    tests: [`${PAGES}/connect.test.ts`],
  },
  {
    defence: "Besides their own Origin the pages of links take only that of no site",
    file: "packages/mcp-auth/src/origins.ts",
    find: '(origin) => origin === "null"',
    replace: '(origin) => origin !== "none"',
    tests: [`${PAGES}/origin.test.ts`],
  },
  {
    defence: "At the sign-in vendor only the signed-in account is linked",
    file: `${PAGES}/store-link.ts`,
    find: "if (listed === deps.settings.links.signIn && account !== user) {",
    replace: 'if (listed === deps.settings.links.signIn && account === "") {',
    tests: [`${PAGES}/connections.test.ts`],
  },
  {
    defence: "A sign-in at a client stores no link over a disconnect that came after it began",
    file: `${LINKS}/link-user.ts`,
    find: "endedAtMilliseconds >= granted.startedAtMilliseconds) {",
    replace: "endedAtMilliseconds >= granted.startedAtMilliseconds + 86_400_000) {",
    tests: [`${LINKS}/link-at-sign-in.test.ts`],
  },
  {
    defence: "An end whose millisecond is not known counts until the end of its second",
    rows: ["LK-9"],
    file: "packages/token-store/src/tokens/row-conditions.ts",
    find: "return isOfSameEnd ? exact : lastOf(seconds);",
    replace: "return isOfSameEnd ? exact : seconds * 1000;",
    tests: [`${LINKS}/link-at-sign-in.test.ts`, "packages/token-store/src/links.test.ts"],
  },
  {
    defence: "A flow whose millisecond is not known began with its second",
    rows: ["LK-9"],
    file: `${HOSTED}/server-callback/redeem-own-code.ts`,
    find: "return startedAtMilliseconds ?? startedAt * 1000;",
    replace: "return startedAtMilliseconds ?? startedAt * 1000 + 999;",
    tests: [`${LINKS}/link-at-sign-in.test.ts`],
  },
  {
    defence: "Dropped tokens are not revoked where that may end the link of the same account",
    file: `${LINKS}/link.ts`,
    find: "if (linked !== undefined && !isAnother) return;",
    replace: "if (linked === undefined && isAnother) return;",
    tests: [`${PAGES}/connections.test.ts`],
  },
  {
    defence: "A yes counts over the link version of its question",
    file: `${PAGES}/store-link.ts`,
    find: "const over = isForeignGone ? (await at.tokens.readLink(key)).linkVersion : linkVersion;",
    replace:
      "const over = isForeignGone || linkVersion >= 0 ? (await at.tokens.readLink(key)).linkVersion : linkVersion;",
    tests: [`${PAGES}/connections.test.ts`],
  },
  {
    defence: "Another account replaces a link after a yes alone",
    file: `${PAGES}/store-link.ts`,
    find: 'const isOther = typeof stored === "object" && !isSameAccount(',
    replace: 'const isOther = typeof stored === "object" && user === "" && !isSameAccount(',
    tests: [`${PAGES}/connections.test.ts`],
  },
  {
    defence: "Fewer scopes replace a link after a yes alone",
    file: `${PAGES}/store-link.ts`,
    find: 'const isFewer = typeof stored === "object" && losesScope(stored, scope, at);',
    replace: 'const isFewer = typeof stored !== "object" && losesScope(stored as never, scope, at);',
    tests: [`${PAGES}/connections.test.ts`],
  },
  {
    defence: "A question is answered by the browser that brought it",
    file: `${PAGES}/pending-tokens.ts`,
    find: "return isSameText(ofBrowser, cookieHash) && isSameSource(",
    replace: "return isSameText(ofBrowser, ofBrowser) && isSameSource(",
    tests: [`${PAGES}/pending-tokens.test.ts`],
  },
  {
    defence: "A question that is over leaves its place to others",
    file: `${PAGES}/pending-tokens.ts`,
    find: "waiting.filter((other) => other.id !== id)",
    replace: "waiting",
    tests: [`${PAGES}/pending-tokens.test.ts`],
  },
  {
    defence: "A question is answered once",
    file: `${PAGES}/connections.ts`,
    find: "if (!(await deps.pendingTokens.take(pending.id, cookie.hash))) {",
    replace: "if (!(await deps.pendingTokens.take(pending.id, cookie.hash)) && isYes === undefined) {",
    tests: [`${PAGES}/connections.test.ts`],
  },
  {
    defence: "The page says that a token was revoked only after the user's own disconnect",
    file: `${PAGES}/connections.ts`,
    find: "return proven === undefined ? undefined : {",
    replace: "return proven === undefined && vendor === undefined ? undefined : {",
    tests: [`${PAGES}/connections.test.ts`],
  },
  {
    defence: "A question that cannot be ended keeps no other user's tokens from being revoked",
    file: `${PAGES}/store-link.ts`,
    find: 'await dropPending(pending, "ended", deps).catch((error: unknown) => logNotEnded(pending, error, deps));',
    replace: 'await dropPending(pending, "ended", deps);',
    tests: [`${PAGES}/sweep.test.ts`],
  },
  {
    defence: "A call asks for no more than its session or its link has",
    file: `${TICKETS}/caller-links.ts`,
    find: "if (scopes.every((scope) => isPermitted(scope) || linked.includes(scope))) return request;",
    replace: "if (scopes.length > 0 || linked.length > 0) return request;",
    tests: [`${PAGES}/connect.test.ts`],
  },
];
