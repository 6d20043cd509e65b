/** Defences of packages/mcp-auth/src. list.ts says how to read an entry. */
import type { Defences } from "../mutation.ts";

export const MCP_AUTH_DEFENCES: Defences = {
  "app.ts": {
    "mcp/metrics: bar#RS-7 Metrics are answered to a scraper on this machine, not to a page in its browser":
      "mount(app, [onlyForUs(route, [-isKnown-]{+(host) => isKnown(host, undefined)+}, undefined)], {",
  },
  "caller-address.ts": {
    "hosted/rate-limit: Addresses of one IPv6 /64 count as one caller": 'return networkOf([-caller)-]{+"") + caller+};',
    "hosted/rate-limit: A forwarded address is accepted only from trusted proxies":
      'if ([-!isTrusted(caller-]{+isTrusted(""+}) || before',
  },
  "hosted/authenticate.ts": {
    "shared-link: A call has only the scope of both session and link":
      "return { scope[-: scope.filter((token) => vendorScope.includes(token))-], vendorScope };",
    "shared-link: A link without a known scope may permit everything requested":
      ": settings.vendor.scopes{+.slice(0, 0)+} };",
  },
  "hosted/clients/client-metadata.ts": {
    "bar#AS-11 A registration is answered without a secret, as a public client":
      'token_endpoint_auth_method: "[-none-]{+client_secret_post+}",\n  grant_types',
  },
  "hosted/clients/client.ts": {
    "shipping-clients: bar#AS-20 A client assertion is refused, not ignored":
      '["client_secret"[-, "client_assertion", "client_assertion_type"-]]',
  },
  "hosted/clients/metadata-document.ts": {
    "bar#AS-13 A document of a host that no one listed is never fetched from loopback":
      "egress: { ...egress[-, allowLoopback: false-] }",
    "bar#AS-13 A client's document is on a host of the operator's list":
      "if (hosts.[-includes(url.host)-]{+length > 0+}) return",
    "bar#AS-13 A client's document is five kilobytes at most": "const DOCUMENT_BYTES = [-5-]{+500+} * 1024;",
    "bar#AS-13 The operator's private networks are closed to client documents": 'allowCidrs: [{+"10.0.0.0/8"+}],',
  },
  "hosted/clients/registration.ts": {
    "unused-clients, registration: A registered client that got tokens is never deleted for new ones":
      'if (outcome [-=== "moved"-]{+!== undefined+}',
  },
  "hosted/clients/unused-clients.ts": {
    "unused-clients, registration: Beyond the limit of unused clients the oldest is deleted":
      "[-await forgetUnused(oldest, { records, now })-]{+void [forgetUnused, oldest, now]+};",
  },
  "hosted/platform-callback/narrow-request.ts": {
    "At a vendor that returns no scope, a narrower request with the platform's callback is granted what it requested":
      'typeof narrow === "string" {+&& narrow === "" +}?',
    "The requested scope of a flow is recorded once":
      "await records.{+delete(keyOf(codeChallenge));\n  await records.+}create({",
  },
  "hosted/routes.ts": {
    "hosted/rate-limit: Refused requests at /token and /revoke count, successes and outages do not":
      "[-&& !-]{+|| +}isRefused) requests.",
    "bar#AS-13 What a browser's request makes the server fetch counts for its address":
      "onBehalfOf({[- clientId: address -]}, () => route.handle(c, trace))",
  },
  "hosted/server-callback/authorize.ts": {
    "bar#AS-9 Consent is for the client as it was shown":
      ", [-clientName, knownBy, redirectUris-]{+typeof clientName, knownBy, redirectUris.length+}",
  },
  "hosted/server-callback/consent-page.ts": {
    "consent-page, server-callback/attacks: The consent page says that the answer goes to a program on this computer, on localhost too":
      "/^([-localhost|-]127\\.0\\.0\\.1|\\[::1\\])(:\\d+)?$/",
  },
  "hosted/server-callback/policy.ts": {
    "bar#AS-8 The callback counts only in the browser that consented":
      "bindsBrowser: () => [-true-]{+deps === undefined+},",
    "bar#TS-3 Parked tokens are sealed under a server key besides our code":
      '[-await serverKey.derive("parked-tokens"-]{+(await serverKey.derive("parked-tokens")).subarray(0, 0+}',
    "another-vendor, redeem-outages: A callback and a code count only for a flow of the present vendor":
      'return isSameSource(authorization, identitySource(settings)) {+|| authorization.vendor !== "" +}',
  },
  "hosted/server-callback/redeem-own-code.ts": {
    "bar#LK-9 A flow whose millisecond is not known began with its second": "?? startedAt * 1000{+ + 999+};",
  },
  "mcp/admission/bearer.ts": {
    "bar#RS-3 A token that the vendor finds too narrow is refused as such, and not as invalid":
      'return challengeFor([-"insufficient_scope"-]{+"invalid_token"+});',
  },
  "mcp/admission/known-host.ts": {
    "known-host, mcp-auth/src/app: A foreign Host gets 403, even with an allowed Origin":
      "[-isHostOf(own, host)-]{+host !== undefined+} &&",
    "mcp-auth/src/app, origins: Methods that a path does not serve are checked for Host and Origin too":
      "[-requireKnown(c);\n      -]return route.otherMethods?.(c, trace);",
  },
  "mcp/admission/refused-tokens.ts": {
    "A bearer token refused on /mcp counts against its address":
      "[-      refusals.add(address);\n    -]{+    +}}\n    return undefined;",
    "Concurrent unknown bearer tokens together stay within the limit": "return [-refusals.left(address)-]{+Infinity+};",
    "A bearer token that was valid before passes whatever else its address sends":
      "if ([-good.has(token) || -]isCounted(key)) return",
    "A refused bearer token counts once in a minute": "if ([-!isCounted(key)-]{+now() > 0+}) {",
    "A vendor's answer that cannot be understood counts like a refused token":
      '[-if (-]{+void +}toOAuthError(error)[-.code === "vendor_response_invalid") refusals.add(address)-]',
    "Unknown bearer tokens under way are bounded over all addresses": "most: {+1_000 * +}MOST_UNDER_WAY,",
    "The queue of unvalidated bearer tokens is bounded": "mostWaiting: {+1_000 * +}MOST_WAITING,",
  },
  "mcp/call-policy.ts": {
    "vendors-apart: A linked vendor's token goes to that vendor's hosts": "            apiHosts{+: deps.apiHosts+},\n",
  },
  "mcp/admission/auth-info.ts": {
    "cancelled-calls: bar#RS-5 A cancel ends a call of the same token and session alone":
      '[-bearerToken(c.req.header("authorization"))-]{+c.req.path+}, c.req.header("mcp-session-id")',
  },
  "mcp/calls/running-calls.ts": {
    "cancelled-calls: A cancel that could mean two calls ends none": "if (others.length [-===-]{+>=+} 0) only",
    "cancelled-calls: The signal of a call does not fire after the call":
      '[-        request.removeEventListener("abort", disconnected);\n-]',
  },
  "mcp/calls/tool-answer.ts": {
    "tool-answers: A vendor's document that a tool returns asks the user for nothing":
      '.has(member){+ || member !== ""+})',
    "tool-answers: A vendor's document with _meta does not speak for the server":
      '", "structuredContent", "isError"{+, "_meta"+}])',
    "tool-answers: Half a character of a tool's answer is replaced before it leaves":
      'half === undefined ? escape : [-"\\\\ufffd"-]{+escape+},',
  },
  "mcp/elicitation/exchange.ts": {
    "elicitation/attacks: A requestState of ours is refused in every call it was not made for, also of a tool registered with the SDK":
      'requestState === "" || requestState[-.startsWith(STATE_PREFIX)-]{+ === STATE_PREFIX+}',
    "elicitation/attacks: A requestState that is no string of ours is refused for a tool of the definition":
      "return call === undefined || [-!toolNames.has(call.tool)-]{+toolNames.size > 0+};",
  },
  "mcp/elicitation/find-links.ts": {
    "lacking-scopes: A user is asked for no scope that the session lacks":
      ".[-includes(scope)-]{+length >= 0+} && configured.includes",
    "lacking-scopes: A user is asked for no scope that the deployment does not have":
      "configured.[-includes(scope)-]{+length >= 0+});",
    "lacking-scopes: A user is asked for no scope that only the vendor names":
      "if ([-!scopes.every((scope) => permitted.includes(scope))-]{+permitted.length === 0+}",
    "lacking-scopes: A tool runs only when its link has the scopes it lists":
      'link.state !== "usable" ||[- lacking.length > 0 ||-]',
  },
  "mcp/elicitation/request-state.ts": {
    "elicitation/attacks: A requestState is of its user": '["request-state", vendor, issuer, {+typeof +}user,',
    "elicitation/attacks: A requestState is of its client": 'user, [-clientId ?? ""-]{+typeof clientId+}',
    "elicitation/attacks: A requestState is of its tool": ", {+typeof +}tool, hashOf(",
    "elicitation/attacks: A requestState is of its arguments": "hashOf(canonicalJson([-given ?? {}-]{+typeof given+}))",
    "elicitation/attacks: A requestState lives as long as its tickets":
      "expiresAt > [-now()-]{+0 || now() > 0+} ? tickets : undefined",
    "elicitation/attacks: A requestState has eight kilobytes at most": "|| state.length > {+100 * +}MOST_CHARACTERS",
    "bar#LK-4 A requestState is of a user of its sign-in vendor and issuer":
      '["request-state", vendor[-, issuer-]{+.slice(0, 0), issuer.slice(0, 0)+}, user,',
  },
  "mcp/elicitation/run-linked.ts": {
    "lacking-scopes: A call that may have had effects is not repeated by the client":
      "return annotations.readOnlyHint [-=== true || annotations.idempotentHint === true-]{+!== false+};",
    "elicitation/stock-clients: A ticket that the client declined or cancelled ends":
      "[-for (const { id } of left) await linked.links.cancel(id);-]",
  },
  "mcp/elicitation/url-elicitation.ts": {
    "elicitation/attacks: A Mcp-Session-Id is of its user and client":
      'vendor, issuer, [-user, clientId ?? ""-]{+typeof user, typeof clientId+}]',
    "elicitation/attacks: A Mcp-Session-Id is of a user of its sign-in vendor and issuer":
      '["mcp-session", vendor[-, issuer-]{+.slice(0, 0), issuer.slice(0, 0)+}, user,',
  },
  "mcp/elicitation/waiting.ts": {
    "elicitation/exchange: A user's calls that wait are few": "before >= MOST_WAITING{+ * 100+}",
  },
  "mcp/endpoint.ts": {
    "mcp/endpoint, origins: /mcp requires the token before it reveals the methods":
      "){+ || found.challenge.status !== 0+}) return undefined;",
  },
  "mcp/metrics.ts": {
    "bar#OB-1 A rejection that no code awaits is counted as a failure of its tool":
      'event === "tool_call"[- || event === "tool_rejection"-]',
  },
  "mcp/tools/insufficient-scope.ts": {
    "Of the scopes that a vendor's headers accept, those count that may be asked for":
      ").filter((scope) => askable[-.includes(scope)-]{+ !== undefined || scope+}",
    "A vendor's scopes are read where all of them are scopes":
      "tokens.every([-isScopeToken-]{+(token) => isScopeToken(token) || token.length > 0+})",
    "A long body of a vendor is not decoded in search of scopes": "createByteCollector(MOST_BYTES{+ * 100+})",
  },
  "mcp/tools/vendor-api.ts": {
    "bar#UI-1 A tool's account is read from userinfo and compared with the ID token's subject":
      '[-undefined : idTokenSubject(idToken.reveal(), vendor).subject-]{+idTokenSubject("", vendor).subject : undefined+}',
  },
  "origins.ts": {
    "No other origin may read our own pages and callbacks, whatever the list says":
      "if (!CALLED_BY_CLIENTS.has(route.path)) return guardRoute(route, [-isOurs-]{+isClient+});",
    "origins, mcp-auth/src/app: A foreign Origin gets 403 at the endpoints for clients":
      "cors), [-isClient-]{+(host, origin) => isClient(host, origin) || isOurHost(host, origin)+}",
    "origin: Besides their own Origin the pages of links take only that of no site":
      '(origin) => origin [-=== "null-]{+!== "none+}"',
  },
  "pre-registered/authenticate.ts": {
    "Results of refused vendor tokens do not evict those of valid ones":
      "const [into, outOf] = [-validation.active ? [good, refused] : [refused, good-]{+[good, refused+}];",
    "A refused vendor token is not validated again for a minute":
      "[-validation.active ? VALIDATION_SECONDS : REFUSED_SECONDS-]{+VALIDATION_SECONDS+}",
    "A burst of one vendor token makes one call to the vendor": "keptOf(key) ?? [-asked.get(key) ?? -]ask(token, key)",
    "The validation result of a vendor token expires with the token":
      'return isOver ? [-{ active: false, reason: "expired" }-]{+validation+} : validation;',
    "A refusal by the vendor's API beats a check that began before it":
      "if (asked.[-get(key) === asking-]{+size >= 0+})\n        keep",
    "A vendor's verdict is kept for seconds": "VALIDATION_SECONDS = [-10-]{+3600+};",
  },
  "resource/scopes.ts": {
    "bar#AS-17 Challenges and the resource's metadata do not name offline_access":
      "scope !== [-OFFLINE_ACCESS-]{+`${OFFLINE_ACCESS}2`+} &&",
  },
  "start.ts": {
    "author-slips: A rejection that a tool does not await ends no process":
      "if (tool [-=== undefined-]{+!== log.constructor.name+})",
    "author-slips: A rejection outside of tools ends the process": "if (tool === undefined) return [-false-]{+true+};",
    "author-slips: The signals of calls fire when a stop cuts them":
      "const ended = [-server.cutCalls-]{+Promise.resolve+}();",
  },
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
    "A question is answered once":
      "await deps.pendingTokens.take(pending.id, cookie.hash)){+ && isYes === undefined+})",
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
      "({ [-since: randomToken(16), endedAt: Math-]{+since: String(present?.since), endedAt: 0 * Math+}.max(now(), endedAtIn",
    "sign-in-source: A cookie of the pages counts only in the generation it began in":
      '[-!(await isOfPresentSignIn(signIn, deps)-]{+(!(await isOfPresentSignIn(signIn, deps)) && signIn.user === ""+}',
  },
  "hosted/pages/store-link.ts": {
    "pages/connections: At the sign-in vendor only the signed-in account is linked":
      'if (isSignIn && account [-!== user-]{+=== ""+}) {',
    "pages/connections: A yes counts over the link version of its question":
      "const over = isForeignGone {+|| linkVersion >= 0 +}",
    "pages/connections: Another account replaces a link after a yes alone":
      'isOther = linked !== undefined && {+user === "" && +}!',
    "pages/connections: Fewer scopes replace a link after a yes alone":
      "(linked [-!==-]{+===+} undefined && losesScope(linked{+ as never+}",
    "sweep: A question that cannot be ended keeps no other user's tokens from being revoked":
      "[-.catch((error: unknown) => logNotEnded(pending, error, deps))-]",
    "between-steps: A question is asked over the version that the page showed":
      "if (presentVersion [-!== linkVersion-]{+< 0+}) return",
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
  "hosted/sessions/refresh-session.ts": {
    "bar#AS-14 Of several refreshes with one token exactly one writes":
      '{ stage: "live", expect: {[- refreshHash: session.refreshHash -]} },',
    "bar#TS-19 A session is refreshed only while the index of its user lists it":
      "[-await deps.index.listedUntil(session.user, session.id)-]{+(await deps.index.listedUntil(session.user, session.id)) ?? session.indexedUntil+}",
    "offline-access: Of the scopes that a session lacks a refresh ignores offline_access alone":
      "withoutIgnored(named, [-ignorable-]{+named.slice(ignorable.length > 0 ? 0 : 1)+}, session.scope)",
  },
  "hosted/sessions/sessions.ts": {
    "bar#RS-2 bar#RV-1 An ended session opens nothing":
      '"access", accessToken);\n      if (located?.session.isLive [-!== true-]{+=== undefined+}) return',
    "bar#AS-21 A revocation ends the caller's own sessions only":
      "if (located === undefined || [-located.session.clientId !== clientId-]{+clientId === ''+}",
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
