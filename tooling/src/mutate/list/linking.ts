/**
 * Defences of a server with several vendors: tickets, the pages' own sign-in, and the flows of
 * links. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const LINKING_DEFENCES: DefencesByFile = {
  "packages/mcp-auth/src/hosted/tickets/tickets.ts": {
    "A ticket is found by the value in its URL, not by its id": {
      find: "      const id = hashOf(value);\n      const ticket = await read(id);\n      if (ticket?.stage",
      replace: "      const id = value;\n      const ticket = await read(id);\n      if (ticket?.stage",
    },
    "A ticket is dead with its session": {
      find: "return session?.isLive === true && session.user === user && session.clientId === clientId;",
      replace: 'return session?.isLive !== undefined || session?.user === user || clientId !== "";',
      tests: [
        "packages/mcp-auth/src/hosted/tickets/tickets.test.ts",
        "packages/mcp-auth/src/hosted/pages/connect.test.ts",
      ],
    },
    "A ticket's state is known to its user and client alone": {
      find: "ticket.user === owner.user && ticket.clientId === owner.clientId;",
      replace: "ticket.user === owner.user || ticket.clientId === owner.clientId;",
    },
  },
  "packages/mcp-auth/src/hosted/pages/connect.ts": {
    "A ticket is decided once": {
      find: 'if (!(await deps.tickets.decide(id, decision === "approve" ? "approved" : "denied"))) {',
      replace: 'if (!(await deps.tickets.decide(id, decision === "approve" ? "approved" : "denied")) && id === "") {',
    },
    "A ticket of a client that is gone is none": {
      find: "const client = await deps.findClient(ticket.clientId);",
      replace:
        'const client = (await deps.findClient(ticket.clientId)) ?? ({ clientId: "", clientName: "", knownBy: "registration", redirectUris: [] } as const);',
    },
  },
  "packages/mcp-auth/src/hosted/pages/flows.ts": {
    "The pages' flows are bound to the browser that began them": {
      find: "    bindsBrowser: () => true,\n",
      replace: "    bindsBrowser: () => false,\n",
      tests: ["packages/mcp-auth/src/hosted/pages/attacks.test.ts"],
    },
    "A link flow needs the sign-in of its user before the vendor's code is sent": {
      find: '  if (flow.purpose !== "link") return;\n',
      replace: '  if (flow.purpose === "link") return;\n',
      tests: ["packages/mcp-auth/src/hosted/pages/attacks.test.ts"],
    },
    "A sign-in ends the one before it in the same browser": {
      find: "  await deps.signIns.end(await deps.signIns.read(visit.cookieHeader));\n",
      replace: "",
      tests: ["packages/mcp-auth/src/hosted/pages/attacks.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/pages/sign-ins.ts": {
    "A ticket and a link flow are of the user who is signed in": {
      find: "return signedIn !== undefined && signedIn.user === user;",
      replace: "return signedIn !== undefined && signedIn.user !== `${user} of another`;",
      tests: ["packages/mcp-auth/src/hosted/pages/attacks.test.ts"],
    },
    "A sign-in at another vendor counts nowhere else": {
      find: "if (!isSameSource(signIn, source) ||",
      replace: "if (!isSameSource(signIn, signIn) ||",
      tests: ["packages/mcp-auth/src/hosted/restored-rows.test.ts"],
    },
    "The operator ends a user's sign-ins": {
      find: "{ v: 1, revision: randomToken(16), since: randomToken(16), endedAt }",
      replace: "{ v: 1, revision: randomToken(16), endedAt }",
    },
    "The operator ends sign-ins of the release before": {
      find: "startedAt <= endedAtIn(end?.data) ||",
      replace: "startedAt + 86_400 <= endedAtIn(end?.data) ||",
      tests: ["packages/mcp-auth/src/hosted/restored-rows.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/pages/form-token.ts": {
    "A form is taken from the user it was shown to, with what it showed": {
      find: "return isSameText(sent, await formCsrf(user, { form, linkVersion }, deps)) ? linkVersion : undefined;",
      replace:
        "return isSameText(sent, sent) || (await formCsrf(user, { form, linkVersion }, deps)) === sent ? linkVersion : undefined;",
      tests: [
        "packages/mcp-auth/src/hosted/pages/connect.test.ts",
        "packages/mcp-auth/src/hosted/pages/connections.test.ts",
      ],
    },
  },
  "packages/mcp-auth/src/hosted/pages/routes.ts": {
    "A form that a browser marks as another site's is refused": {
      find: 'if (site === "same-origin" || site === "none") return;',
      replace: 'if (site !== "") return;',
      tests: ["packages/mcp-auth/src/hosted/pages/connect.test.ts"],
    },
  },
  "packages/mcp-auth/src/origins.ts": {
    "Besides their own Origin the pages of links take only that of no site": {
      find: '(origin) => origin === "null"',
      replace: '(origin) => origin !== "none"',
      tests: ["packages/mcp-auth/src/hosted/pages/origin.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/pages/store-link.ts": {
    "At the sign-in vendor only the signed-in account is linked": {
      find: "if (listed === deps.settings.links.signIn && account !== user) {",
      replace: 'if (listed === deps.settings.links.signIn && account === "") {',
      tests: ["packages/mcp-auth/src/hosted/pages/connections.test.ts"],
    },
    "A yes counts over the link version of its question": {
      find: "const over = isForeignGone ? (await at.tokens.readLink(key)).linkVersion : linkVersion;",
      replace:
        "const over = isForeignGone || linkVersion >= 0 ? (await at.tokens.readLink(key)).linkVersion : linkVersion;",
      tests: ["packages/mcp-auth/src/hosted/pages/connections.test.ts"],
    },
    "Another account replaces a link after a yes alone": {
      find: 'const isOther = typeof stored === "object" && !isSameAccount(',
      replace: 'const isOther = typeof stored === "object" && user === "" && !isSameAccount(',
      tests: ["packages/mcp-auth/src/hosted/pages/connections.test.ts"],
    },
    "Fewer scopes replace a link after a yes alone": {
      find: 'const isFewer = typeof stored === "object" && losesScope(stored, scope, at);',
      replace: 'const isFewer = typeof stored !== "object" && losesScope(stored as never, scope, at);',
      tests: ["packages/mcp-auth/src/hosted/pages/connections.test.ts"],
    },
    "A question that cannot be ended keeps no other user's tokens from being revoked": {
      find: 'await dropPending(pending, "ended", deps).catch((error: unknown) => logNotEnded(pending, error, deps));',
      replace: 'await dropPending(pending, "ended", deps);',
      tests: ["packages/mcp-auth/src/hosted/pages/sweep.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/links/link-user.ts": {
    "A sign-in at a client stores no link over a disconnect that came after it began": {
      find: "endedAtMilliseconds >= granted.startedAtMilliseconds) {",
      replace: "endedAtMilliseconds >= granted.startedAtMilliseconds + 86_400_000) {",
      tests: ["packages/mcp-auth/src/hosted/links/link-at-sign-in.test.ts"],
    },
  },
  "packages/token-store/src/tokens/row-conditions.ts": {
    "An end whose millisecond is not known counts until the end of its second": {
      rows: ["LK-9"],
      find: "return isOfSameEnd ? exact : lastOf(seconds);",
      replace: "return isOfSameEnd ? exact : seconds * 1000;",
      tests: ["packages/mcp-auth/src/hosted/links/link-at-sign-in.test.ts", "packages/token-store/src/links.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/server-callback/redeem-own-code.ts": {
    "A flow whose millisecond is not known began with its second": {
      rows: ["LK-9"],
      find: "return startedAtMilliseconds ?? startedAt * 1000;",
      replace: "return startedAtMilliseconds ?? startedAt * 1000 + 999;",
      tests: ["packages/mcp-auth/src/hosted/links/link-at-sign-in.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/links/link.ts": {
    "Dropped tokens are not revoked where that may end the link of the same account": {
      find: "if (linked !== undefined && !isAnother) return;",
      replace: "if (linked === undefined && isAnother) return;",
      tests: ["packages/mcp-auth/src/hosted/pages/connections.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/pages/pending-tokens.ts": {
    "A question is answered by the browser that brought it": {
      find: "return isSameText(ofBrowser, cookieHash) && isSameSource(",
      replace: "return isSameText(ofBrowser, ofBrowser) && isSameSource(",
    },
    "A question that is over leaves its place to others": {
      find: "waiting.filter((other) => other.id !== id)",
      replace: "waiting",
    },
  },
  "packages/mcp-auth/src/hosted/pages/connections.ts": {
    "A question is answered once": {
      find: "if (!(await deps.pendingTokens.take(pending.id, cookie.hash))) {",
      replace: "if (!(await deps.pendingTokens.take(pending.id, cookie.hash)) && isYes === undefined) {",
    },
    "The page says that a token was revoked only after the user's own disconnect": {
      find: "return proven === undefined ? undefined : {",
      replace: "return proven === undefined && vendor === undefined ? undefined : {",
    },
  },
  "packages/mcp-auth/src/hosted/tickets/caller-links.ts": {
    "A call asks for no more than its session or its link has": {
      find: "if (scopes.every((scope) => isPermitted(scope) || linked.includes(scope))) return request;",
      replace: "if (scopes.length > 0 || linked.length > 0) return request;",
      tests: ["packages/mcp-auth/src/hosted/pages/connect.test.ts"],
    },
  },
  "packages/service/src/events/deliver.ts": {
    "An event is signed over its id, its time and its body": {
      find: "update(`${id}.${seconds}.${body}`)",
      replace: "update(`${id}.${seconds}`)",
      tests: ["packages/mcp-auth/src/hosted/events.test.ts", "apps/platform/src/oauth/link-events.test.ts"],
    },
  },
  "packages/service/src/events/link-events.ts": {
    "Only 2xx says that a receiver has an event": {
      find: "if (status >= 200 && status <= 299) return event;",
      replace: "if (status >= 200) return event;",
      tests: ["packages/mcp-auth/src/hosted/events.test.ts", "apps/platform/src/oauth/link-events.test.ts"],
    },
  },
  "packages/service/src/events/outbox.ts": {
    "A claim sets the time of the next try": {
      find: "claimed.includes(one) ? nextTry(one, now()) : one",
      replace: "claimed.includes(one) ? { ...nextTry(one, now()), due: one.due } : one",
      tests: ["packages/mcp-auth/src/hosted/events.test.ts"],
    },
    "A link is reported dead once for each authorization": {
      find: 'return reported?.["grant"] === change.grant ? undefined : hashOf(',
      replace: 'return reported?.["grant"] === "" ? undefined : hashOf(',
      tests: ["packages/mcp-auth/src/hosted/events.test.ts"],
    },
  },
  "packages/service/src/events/settings.ts": {
    "No event leaves unsigned": {
      find: "if (hasUrl && !hasSecret) read.refuse(",
      replace: "if (hasUrl && hasSecret && url === secrets) read.refuse(",
      tests: ["packages/mcp-auth/src/hosted/events.test.ts", "apps/platform/src/oauth/link-events.test.ts"],
    },
  },
};
