/** Defences of packages/mcp-auth/src. list.ts says how to read an entry. */
import type { Defences } from "../mutation.ts";

export const HOSTED_USERS_DEFENCES: Defences = {
  "hosted/link-policy/link-policy.ts": {
    "linking-sessions: A scope of a session from before several vendors is no other vendor's":
      "scope[-: prefixScopes(scope, signIn)-], unprefixedOf: signIn",
    "linking-sessions: A scope that names a vendor is not taken for the only vendor's own":
      "([-linking === true ? undefined : -]{ scope })",
  },
  "hosted/link-policy/scope.ts": {
    "between-steps: The default scopes that identify a user ask for no refresh token":
      ".filter((scope) => [-!offline.includes(scope-]{+scope !== offline.join(+}));",
    "session-scopes: A session has no more than the user consented to, whatever the sign-in vendor grants":
      "return [-consented-]{+[...consented, ...atSignIn]+}.filter(",
  },
  "hosted/links/link.ts": {
    "pages/granted-scopes: Dropped tokens are not revoked where that may end the link of the same account":
      "if (linked [-!== undefined && !-]{+=== undefined && +}isAnother) return;",
    "shared-link: A narrower sign-in does not change the link": "return isWithin && {+deps.now() < 0 && +}losesScope(",
    "shared-link: A dead link is not kept": 'status [-=== "active-]{+!== "revoked+}" &&',
    "another-vendor: A link of another client does not outlast a new one":
      "losesScope(present, granted, deps)[- && isOwnClient(present.tokens.clientId, deps)-];",
    "another-vendor: A token of another client is not revoked as ours":
      "if (!isOwnClient(clientId, { settings }){+ && clientId !== clientId+}) return",
    "shared-link: A link that is wider only by scopes no longer requested is not kept":
      "scopes.[-includes(token)-]{+length >= 0+} && !granted",
  },
  "hosted/links/token-source.ts": {
    "bar#UI-1 Hosted mode hands on the ID token beside the access token":
      "[-defined({ idToken -]{+(defined({ idToken }).idToken === undefined ? { idToken: accessToken } : {+}",
    "shared-link: A call gets no token with more scope than the link had when the call was admitted":
      "linkScope(tokens)?.every((token) => admitted.includes(token)) !== [-false-]{+null+};",
  },
  "hosted/pages/connect.ts": {
    "A ticket is decided once": 'approved" : "denied")){+ && id === ""+}',
    "A ticket of a client that is gone is none":
      '[-await deps.findClient(ticket.clientId-]{+(await deps.findClient(ticket.clientId)) ?? ({ clientId: "", clientName: "", knownBy: "registration", redirectUris: [] } as const+}',
    "between-steps: After a sign-in a browser goes back to a ticket's path alone":
      '(value) {+|| value !== "" +}? `${PATHS.connect}',
  },
  "hosted/pages/connections.ts": {
    "A question is answered once": "await deps.pendingTokens.take(pending.id, cookie.hash)){+ && isYes === undefined+}",
    "The page says that a token was revoked only after the user's own disconnect":
      "return proven === undefined {+&& vendor === undefined +}? undefined : {",
    "between-steps: A question is shown to its user alone": 'waiting?.user [-=== user-]{+!== ""+} ? waiting',
    "between-steps: A question is answered by its user alone": 'pending.user [-!== user-]{+=== ""+})',
    "between-steps: The ticket of *Use another account* is one": "[-{43}-]{+.*+}$/.exec(form",
    "between-steps: The page says that a vendor is connected only where it is":
      'linked && state [-=== "usable-]{+!== "unreadable+}"',
  },
  "hosted/pages/flows.ts": {
    "pages/attacks: The pages' flows are bound to the browser that began them":
      "bindsBrowser: () => [-true-]{+false+},",
    "pages/attacks: A link flow needs the sign-in of its user before the vendor's code is sent":
      '(flow.purpose [-!==-]{+===+} "link"',
    "pages/attacks: A sign-in ends the one before it in the same browser":
      "[-  await deps.signIns.end(await deps.signIns.read(visit.cookieHeader));\n-]",
    "bar#LK-9 A link of a user who signed out while the code was redeemed is not stored":
      '[-signedIn = await deps.signIns.read(visit.cookieHeader)-]{+gone = { user: flow.user ?? "", label: "", cookie: { value: "", hash: "" } };\n  const signedIn = (await deps.signIns.read(visit.cookieHeader)) ?? gone+};\n  const',
    "between-steps: The pages' sign-in asks for no refresh token":
      "vendor: { ...vendor.vendor[-, offlineScopes: []-] } };",
  },
  "hosted/pages/form-token.ts": {
    "pages/connect, pages/connections: A form is taken from the user it was shown to, with what it showed":
      "[-await formCsrf(user, form, linkVersion, deps))-]{+sent) || (await formCsrf(user, form, linkVersion, deps)) === sent+}",
  },
  "hosted/pages/pending-tokens.ts": {
    "A question is answered by the browser that brought it": "return isSameText(ofBrowser, [-cookieHash-]{+ofBrowser+}",
    "A question that is over leaves its place to others": "waiting[-.filter((other) => other.id !== id)-]",
    "bar#ST-8 A thousand questions wait at most": "if ([-open.length - tooMany.length >= limits.waiting || -]listed",
    "The index of the questions has a bound with those that are due": "[- || listed.length >= limits.listed-]",
    "A question that is due takes no place": "const open = listed.filter((other) => other.until > [-now()-]{+0+});",
    "bar#ST-8 One user has a share of the waiting questions": "own.length [-+ 1 - limits.ofUser-]{+- own.length+}",
    "A user's question ends no other user's": "open.filter((other) => other.owner [-=== owner-]{+!== undefined+})",
  },
  "hosted/pages/sign-ins.ts": {
    "restored-rows: A sign-in at another vendor counts nowhere else":
      "if (!isSameSource(signIn, [-source-]{+signIn+}) ||",
    "The operator ends a user's sign-ins":
      "{ v: 1, [-since: randomToken(16), endedAt-]{+...present, seenAt: endedAt+} }",
    "sign-in-source: A cookie of the pages counts only in the generation it began in":
      '[-!(await isOfPresentSignIn(signIn, deps)-]{+(!(await isOfPresentSignIn(signIn, deps)) && signIn.user === ""+}',
  },
  "hosted/pages/store-link.ts": {
    "pages/connections: At the sign-in vendor only the signed-in account is linked":
      '.links.signIn && account [-!== user-]{+=== ""+}) {',
    "pages/connections: A yes counts over the link version of its question":
      "const over = isForeignGone {+|| linkVersion >= 0 +}",
    "pages/connections: Another account replaces a link after a yes alone":
      'isOther = typeof stored === "object" && {+user === "" && +}!',
    "pages/connections: Fewer scopes replace a link after a yes alone":
      'stored [-===-]{+!==+} "object" && losesScope(stored{+ as never+}',
    "sweep: A question that cannot be ended keeps no other user's tokens from being revoked":
      "[-.catch((error: unknown) => logNotEnded(pending, error, deps))-]",
    "between-steps: A question is asked over the version that the page showed":
      "if (present [-!== linkVersion-]{+< 0+}) return",
  },
  "hosted/records/server-key.ts": {
    "server-key, hosted/table-writer: An unsealed server key is replaced, not adopted":
      '[-const key = keyInPlaceOfUnsealed(options.adoptUnsealed === true-]{+keyInPlaceOfUnsealed(options.adoptUnsealed === true);\n  const key = requireLength(Buffer.from(plain, "base64url")+}',
    "table-writer.attack: Hosted mode's records are the authenticated ones":
      "[-authenticatedRecords({ records, keys, ...defined({ onRefused }) })-]{+onRefused === undefined ? authenticatedRecords({ records, keys, ...defined({}) }) : records+}",
    "storage: The index of a user's sessions is named under the server key":
      "[-await serverKey.derive(purpose)-]{+(await serverKey.derive(purpose)).subarray(0, 0)+}, JSON",
  },
  "hosted/sessions/issued-token.ts": {
    "bar#RS-2 A token belongs to the server that receives it": "`${prefix}\\0${{+typeof +}audience}\\0`",
  },
  "hosted/sessions/record.ts": {
    "session-revocation: bar#RS-2 An access token expires":
      "isSameText(hash, presented.hash) && expiresAt > now{+ - now+});",
    "bar#RS-2 An access token is one that its session issued":
      "[-isSameText(hash, presented.hash-]{+(isSameText(hash, presented.hash) || hash !== ''+}",
    "another-vendor: A session is read only for the source it was opened at":
      "[-!isSameSource(session, source-]{+(!isSameSource(session, source) && !session.isLive+}",
    "linking-sessions: With several vendors a session ends a fixed time after its sign-in":
      ".isLive && now() < [-endsAt-]{+Infinity+}",
  },
  "hosted/sessions/refresh.ts": {
    "bar#AS-14 Of several refreshes with one token exactly one writes":
      '{ stage: "live", expect: {[- refreshHash: session.refreshHash -]} },',
    "bar#TS-19 A session is refreshed only while the index of its user lists it":
      "[-await deps.index.listedUntil(session.user, session.id)-]{+(await deps.index.listedUntil(session.user, session.id)) ?? session.indexedUntil+}",
    "offline-access: Of the scopes that a session lacks a refresh ignores offline_access alone":
      "withoutIgnored(named, [-ignorable-]{+named.slice(ignorable.length > 0 ? 0 : 1)+}, session.scope)",
  },
  "hosted/sessions/sessions.ts": {
    "bar#RS-2 bar#RV-1 An ended session opens nothing": "if (session === undefined[- || !session.isLive-]) return",
    "bar#AS-21 A revocation ends the caller's own sessions only":
      "if (session === undefined || [-session.clientId !== clientId-]{+clientId === ''+}",
  },
  "hosted/sessions/sign-in-generation.ts": {
    "sign-in-source: A session or sign-in of before an adoption counts at no later one":
      "return began >= [-(await signInGeneration())-]{+0 || (await signInGeneration()) < 0+};",
  },
  "hosted/sessions/sign-in-source.ts": {
    "A server does not start over the sessions of another sign-in vendor": 'adopt{+ && present.vendor === ""+}) return',
    "Adopting a sign-in vendor raises the generation": "data) + (endsSessions ? [-1-]{+0+} : 0)",
  },
  "hosted/sessions/token-pair.ts": {
    "linking-sessions: No access token outlives its session":
      "Math.[-min-]{+max+}(now() + ACCESS_TOKEN_LIFETIME_SECONDS, endsAt{+ === Infinity ? 0 : 1+})",
  },
  "hosted/sessions/user-sessions.ts": {
    "restored-rows: A refresh puts no session on the index of its user":
      "[-if (listed === undefined) return { result: undefined };\n        const until = now() + ENTRY_SECONDS-]{+const until = now() + ENTRY_SECONDS;\n        if (listed === undefined) return { entries: [...entries, { id, startedAt: now(), until }], result: until }+}",
    "another-vendor: The index of a user's sessions is one per vendor and issuer":
      ", source.vendor[-, source.issuer-]{+.slice(0, 0)+}",
  },
  "hosted/tickets/caller-links.ts": {
    "pages/connect: A call asks for no more than its session or its link has":
      "[-every((scope) => isPermitted(scope) || linked.includes(scope))-]{+length > 0 || linked.length > 0+}",
  },
  "hosted/tickets/tickets.ts": {
    "A ticket is found by the value in its URL, not by its id": "const id = [-hashOf(value)-]{+value+};\n      const",
    "A ticket's state is known to its user and client alone": "ticket.user === owner.user [-&&-]{+||+} ticket.clientId",
    "A ticket is of its sign-in vendor, also when it is decided":
      "!isSameSource({ [-vendor: ticket.signIn, issuer: ticket-]{+...source, issuer: source+}",
    "tickets, pages/connect: A ticket is dead with its session":
      '[-=== true && session.user === user && session.clientId === clientId-]{+!== undefined || session?.user === user || clientId !== ""+}',
  },
};
