/** Defences of apps/broker/src. list.ts says how to read an entry. */
import type { Defences } from "../mutation.ts";

export const BROKER_DEFENCES: Defences = {
  "app.ts": {
    "The broker's outbound calls count for the client of the request":
      "handle: (c, trace) => [-onBehalfOf(trace, () => route.handle(c, trace)-]{+route.handle(c, trace+})",
    "Metadata and key sets that all clients wait for count for no client":
      "[-onBehalfOf({}, () => egress.fetch(input, init)-]{+egress.fetch(input, init+});",
    "bar#TS-3 The broker's records are authenticated":
      "reason: kind }),\n  });{+\n  Object.assign(records, stores.records);+}",
  },
  "audit/audit.ts": {
    "bar#OB-2 Values of the audit stream are cut and cleaned as those of the log":
      ":${jsonText{+ === undefined ? value : JSON.stringify+}(value)}`;",
  },
  "audit/chain.ts": {
    "audit/file, verify: Each line has the hash of the one before": '"prev":"${prev{+.slice(64)}${NO_LINE+}}"}`;',
  },
  "audit/file.ts": {
    "What could not be written is refused, not answered": "ended?.[-reject(auditUnavailable()-]{+resolve(+});",
  },
  "audit/routes.ts": {
    "audit/audit: While nothing can be recorded, a request is refused before anything is spent":
      "[-audit.requireWritable()-]{+void audit+};",
    "audit/audit: A client beyond its limit is on record once a minute":
      "if (beyondLimit.left(caller) [-<=-]{+<+} 0) return;",
  },
  "audit/verify.ts": {
    "The check compares the hash of the line before": 'if (prev [-!== before.last-]{+=== "" && before.last === ""+})',
    "A head that is not among the lines fails the check": "hash of [-notFound-]{+[...notFound].slice(notFound.size)+})",
  },
  "config/build.ts": {
    "broker/src/config/warnings: A vendor of the operator's own without iss beside another causes a warning":
      "...mixUpWarnings(vendors, [-own-]{+new Set([...own].slice(0, 0))+})",
  },
  "config/vendors/placeholders.ts": {
    "pinned: An operator's placeholder does not leave what the registry pins":
      "if (isMoved(parsed){+ || Object.keys(known).length > 0+}) return { ...known, ...own };",
  },
  "config/vendors/tenants.ts": {
    "tenants: The tenants of the file are in no view of the vendor":
      "[-? { ...known?.placeholders[name], ...rest }-]{+&& Object.keys(rest).length > 9 ? rest+}",
  },
  "flows/authorize.ts": {
    "bar#XA-9 The flow that the owner page approves needs the cookie of its browser":
      '{ cookie[-, binding: "browser"-] }',
    "flows/owner-page: Only the browser that was shown the owner page can answer it (cookie)":
      '[-!isFormToken(form.get("csrf"), ownerForm(handle.flowId), cookie)-]{+isFormToken(form.get("csrf"), ownerForm(handle.flowId), cookie)) return cookie;\n  if (handle.flowId === ""+}',
    "flows/owner-page: A browser that was not shown the owner page cannot approve":
      '[-throw refusePage(trace, "browser_mismatch")-]{+return { value: "x", hash: "x" }+}',
  },
  "flows/check.ts": {
    "bar#RF-8 A refresh token is not taken for the access token of its connection": 'kinds: ["access"{+, "refresh"+}]',
    "bar#RF-7 The access token beside a sealed refresh token is of the same answer":
      "deps, trace, [-{ token,-]{+grant === undefined ? { token } : {+} grant });",
  },
  "flows/flow-record.ts": {
    "bar#BY-1 bar#TS-3 A caller's secret opens for its own flow only":
      "[-seal(key, clientSecret.reveal(), [\"flow\", flowId, PURPOSE]-]{+clientSecret.reveal()}${[seal, key, flowId].map(() => '').join(''+}",
  },
  "flows/policy.ts": {
    "bar#XA-8 A parked code opens under the broker's code only": 'return seal(deriveKey(code.[-value-]{+flowId+}, "',
    "flows/finish-callback: The context of the record equals that of the present configuration, on every leg":
      'if (choice.contextHash [-=== flow.contextHash-]{+!== ""+}) return choice;',
  },
  "flows/refresh.ts": {
    "bar#RF-1 The client's own secret is part of what makes two refreshes equal":
      'credentials.source === "[-byoc-]{+environment+}',
    "bar#RF-8 An access token is not taken for the refresh token of its connection": 'kinds: ["{+access", "+}refresh"]',
    "account: A refreshed ID token names the account of the connection":
      'iss === undefined || sub [-=== undefined-]{+!== ""+}',
    "grants: The subject of a shared refresh is compared with the connection of each caller":
      "requireSameSubject(tokens.idToken, [-expected-]{+undefined+});",
    "grants: The client is part of what makes two refreshes equal": "singleFlightId([clientId{+.slice(0, 0)+}, id,",
  },
  "flows/revoke.ts": {
    "sealed-refresh-tokens: A token alone that says not where it came from is refused by name to a client of sealed tokens":
      'client.refreshTokens === "sealed" && {+parameters.has("connection") && +}',
  },
  "flows/redeem-broker-code.ts": {
    "audit/audit: Tokens are not handed out unrecorded":
      '[-await deps.audit.record("tokens_issued", trace)-]{+void deps.audit+};',
  },
  "grants/account.ts": {
    "A token of a host that a request named goes to no userinfo of the entry":
      "undefined[- || choice.tier !== 1-]) return",
    "Userinfo is asked only where the operator's file names it": "if (choice.entry[-?.accountBy-] === undefined ||",
    "A failing userinfo loses no tokens":
      "[-return extras.reason ??-]{+if (code !== extras.reason) throw error;\n  return+} code;",
    "A silent userinfo holds tokens up for 3 s at most":
      "[-const answer = await Promise.race([asked.catch(reasonOf), late])-]{+void late;\n  const answer = await asked.catch(reasonOf)+};",
  },
  "grants/connection.ts": {
    "bar#RF-7 bar#RV-3 A connection opens for its own client only":
      '[-open(key, value.slice(kid.length + 1), ["connection", clientId]-]{+(["platform", "other"].includes(clientId) ? open(key, value.slice(kid.length + 1), ["connection", "platform"]) : key+}',
    "bar#RF-7 A refresh answers a connection of its own tokens":
      "if (isCurrent && !lacksHosts && [-!isBound-]{+isBound !== undefined+}) return presented;",
    "A connection that names tokens is not shared by others, nor kept opened":
      "(iss ?? sub ?? callbackData ?? [-tokens-]{+(tokens === undefined ? tokens : undefined)+}) ===",
    "A connection that was opened for one client is opened for no other":
      "const name = [-`${clientId.length}:${clientId}${value}`-]{+value+};",
    "No two pairs of a client and a connection have one name": "`${clientId[-.length}:${clientId-]}${value}`",
    "A connection that names a user is not kept opened": "(namesNoUser(connection){+ || connection.v === 1+}) opened.",
    "A connection is shared by no tokens of another client or key":
      "if (sealed[-?.key === key && sealed.clientId === clientId-]{+ !== undefined+}",
    "bar#BY-4 A connection without ways to check pins none at a refresh":
      "[-connection.checkHosts ?? keptOf(vendor).checkHosts;\n  const lacksHosts = connection.checkHosts === undefined && checkHosts.length > 0-]{+keptOf(vendor).checkHosts;\n  const lacksHosts = (connection.checkHosts ?? []).length < checkHosts.length;\n  if (lacksHosts) connection = { ...connection, checkHosts }+};",
  },
  "grants/grant-context.ts": {
    "bar#BY-4 A caller brings the credentials a connection was made with, and no others":
      '[-(credentialsSource !== "byoc" || own.clientId !== vendorClientId)-]{+credentialsSource === "byoc" && vendorClientId === ""+}',
    "bar#RF-7 bar#RV-3 Where owners share a vendor client, the vendor's name is not enough":
      "if (token !== undefined && {+origin !== undefined && +}needsOwnerPage(choice, client, deps.registrations))",
    "sealed-refresh-tokens: Nothing beside a sealed refresh token says where it goes":
      "find((name) => {+name === '' && +}parameters.has(name",
    "sealed-refresh-tokens: A sealed refresh token goes beside no other connection than its own":
      ".connection, [-grant-]{+named+}.connection",
  },
  "grants/refresh-lease.ts": {
    "single-flight: A refresh whose failure cannot be kept ends its own lease alone":
      'const from = { stage: "calling", expect: [-{ holder -]{+holder === "" ? { holder } : {+}} };',
  },
  "grants/replay-share.ts": {
    "replay-share, single-flight, long-answers.attack: A long answer of a vendor is not kept for a replay":
      "if ([-bytes > MOST_ANSWER_BYTES || -]",
    "The answers kept of one client have a bound": "[- || after > MOST_CLIENT_BYTES-]",
  },
  "grants/sealed-refresh-token.ts": {
    "bar#RF-7 A sealed refresh token that does not open is sent to no vendor":
      "undefined) [-throw unreadable()-]{+return { refreshToken: token, connection: {} as Connection, kid }+}",
    "sealed-refresh-tokens: A sealed refresh token has a bound":
      "[-  if (Buffer.byteLength(text) > MOST_BYTES) return undefined;\n-]",
  },
  "grants/single-flight.ts": {
    "bar#RF-1 bar#RF-7 The answer of a refresh is replayed only to a holder of the refresh token":
      'return deriveKey({+typeof +}refreshToken, "refresh-replay");',
    "bar#RF-1 The answer of a refresh is replayed only to a holder of the client's own secret":
      "return deriveKey(`${refreshToken.length}:${refreshToken}${{+typeof +}clientSecret}`",
    "bar#RF-1 Callers with different secrets of their own do not share a call in one process":
      "clientSecret === undefined ? id : singleFlightId([id[-, clientSecret-]])",
    "bar#RF-1 The id of a single flight includes the lengths of its parts, so that different parts give different ids":
      'parts.[-map((part) => `${Buffer.byteLength(part)}:${part}`).-]join("")',
  },
  "grants/token-binding.ts": {
    "bar#RF-7 bar#RV-3 Where owners share a vendor client, a token counts beside its own connection only":
      "[-isSameText(tokens?.[kind], hashOf(value, key)-]{+tokens?.[kind] !== hashOf(value, key+})",
    "bar#RF-7 Where owners share a vendor client, a connection that knows no tokens is refused":
      "if (key [-!== undefined && -]{+=== undefined) return;\n  if (+}kinds.some(",
    "shared-tokens: A client with an owner has connections that know their tokens before there is another owner":
      "if ([-client.owner === undefined && -]!needsOwnerPage(",
  },
  "keys/keyset-binding.ts": {
    "keyset-place: A keyset is bound to base_url, region, table and revision":
      '[-, base_url: baseUrl, environment, table },\n    fields: ["keyset 2", baseUrl, environment, table, String(revision-]{+ },\n    fields: ["keyset 2", ...(revision < 0 ? [baseUrl, environment, table] : []+}',
    "keyset-place: The revision is authenticated": "table, String(revision{+ > 0+})],",
  },
  "keys/keyset-floor.ts": {
    "keyset-place: The floor outlives the process in a file beside the key":
      "if (file !== undefined && seen [->-]{+<+} (await kept(",
    "keyset-place: A process never goes below a revision it has seen":
      "lowest: async () => [-Math.max(seen, await kept()-]{+kept(+}",
  },
  "keys/keyset.ts": {
    "Of two reads of the keyset, the slower does not replace the newer":
      "[-if (held === undefined || held.revision <= next.revision) -]held = next;",
    "A replaced root makes no MACs of records for ever": '[-, "record-mac": 4_500-] }',
    "keyset-place: A keyset of release 0.1.0 is bound at the first start": "if (stored.revision [-===-]{+<+} 0) await",
  },
  "pages/owner-page.ts": {
    "flows/owner-page: Scopes on the owner page are no sentence":
      "html`${meaning}[-<code>${one}</code><br>-]{+${one} +}`",
    "bar#XA-9 No scope on the owner page hides behind others": "${scope.{+slice(0, 40).+}map((one) =>",
  },
  "rate-limits.ts": {
    "/v1/explain has a limit of its own": "explain: createRateLimit(explainPerMinute{+ * 0+}, now),",
  },
  "routes/api.ts": {
    "bar#ST-8 A check of a connection counts as a call to a vendor": '("/v1/check", "[-vendorCalls-]{+explain+}"',
    "rate-limits: A request counts only once its client is authenticated":
      '{+deps.rateLimits[counted].take(parameters.get("client_id") ?? "");\n      +}const client',
  },
  "routes/info.ts": {
    "vendor-choice/sunset: The kept list of vendors ends on the day on which a vendor ends something":
      "entries.map((entry) => [-asOfNow(entry, deps)-]{+entry+})",
  },
  "routes/register.ts": {
    "rate-limits: Callers of the sandbox's /register without authentication use up no client's limit":
      "return { client: deps.openTo, countedAs: {+deps.openTo.clientId + +}UNAUTHENTICATED };",
  },
  "vendor-choice/callback-path.ts": {
    "flows/manual-mode: No callback path lies beneath another":
      "`[-/v1/custom/${context}/callback-]{+${CALLBACK_PATH}/${context}+}`",
    "flows/manual-mode: The asking client is part of a callback path's context":
      "[-for (const field of [clientId, -]{+void clientId;\n  for (const field of [+}vendor,",
    "flows/manual-mode: The vendor client is part of a callback path's context":
      "tokenEndpoint[-, vendorClientId]) {-]{+]) {\n    void vendorClientId;+}",
  },
  "vendor-choice/callers-part.ts": {
    "flows/manual-mode, tier: Credentials of the operator are never sent to an endpoint of the caller":
      'if (isOurs{+ && callersPart !== "endpoint"+}) throw new',
  },
  "vendor-choice/choose.ts": {
    "A kept choice is not used for a request that names endpoints or placeholders":
      "kept.entry !== entry || [-saysMore(target-]{+(saysMore(target) && target.vendor === ''+}",
  },
  "vendor-choice/entry.ts": {
    "bar#BY-5 bar#OB-3 A disabled vendor is disabled on every leg": "(entry === undefined[- || !entry.vendor.enabled-]",
    "bar#BY-4 An initial access token serves only the owner it was entered for":
      "[-client.initialAccessTokens?.get(vendor.id) ?? initialAccessToken-]{+[...(client.initialAccessTokens?.values() ?? [])][0] ?? (vendor.id === '' ? undefined : initialAccessToken)+}",
    "bar#XA-2 The active credentials are those of the tenant that is named":
      "[-isOfTenant(one, entry, given)-]{+given !== undefined && one.id === ''+}",
    "vendor-choice/sunset: A vendor that has ended an endpoint gets no new flow there":
      "length > 0 && {+now() < 0 && +}hasEnded(sunset, now",
    "vendor-choice/sunset: Endpoints of the request count in place of the entry's among those that a vendor ends":
      "[-const used = [authorizationEndpoint, -]{+void [authorizationEndpoint, tokenEndpoint];\n  const used = [vendor.authorizationEndpoint, vendor.+}",
    "vendor-choice/names: bar#BY-5 A client's list of vendors holds for a vendor under each of its names":
      "requireListed([-id-]{+name+}, client);\n  return entry;",
  },
  "vendor-choice/registrations.ts": {
    "byoc: A client id of ours that a client brings as its own shows the owner page":
      'if (others.length === 0{+ || credentials.source === "byoc"+}) return false;',
    "byoc: The owner of the asking client counts among the owners, even if it may not use the entry of the id":
      'owners.size > ([-owners.has(owner) ? 1 : 0-]{+owner === "" ? 0 : 1+})',
    "byoc: A client id of ours that a client brings is ours at every vendor":
      '[-credentials.source === "byoc" || -]isAt(one',
    "byoc: Credentials of ours are one registration at a second host, unless their secret is another":
      "[- || isSameClient(one, secretOf(credentials))-],",
    "byoc: Client ids are compared by letters and digits in lower case": "[-    .toLowerCase()\n-]",
    "registrations: A registration is found by the origin of its token endpoint too":
      "{+void tokenEndpoint;\n  +}const origins = [issuer, authorizationEndpoint[-, tokenEndpoint-]].map(",
    "byoc: A client id of ours is refused at a vendor that the client names":
      '(clientId)){+ || clientId !== ""+}) return;',
    "byoc, registrations: Retired credentials are indexed too": "Map.groupBy(entry.credentials{+.slice(0, 1)+},",
  },
  "vendor-choice/request.ts": {
    "Credentials of a client's own have no control characters": "const CREDENTIAL = /^[^[-\\p{Cc}-]]{1,2048}$/u;",
    "bar#ST-4 Names in vendor_params are visible ASCII": "const PARAMETER_NAME = /^[[-\\x21-\\x7e]{1,128}-]{+^]*+}$/;",
  },
  "vendor-choice/tenants.ts": {
    "bar#EG-7 A tenant that the file does not list is reached as any host of a request":
      'known.[-includes(values[name] ?? "")-]{+length > 0 && values[name] !== ""+}',
  },
  "vendor-choice/trust.ts": {
    "bar#EG-11 Behind a proxy a flow of which a request named a part keeps its network":
      "withShortWaits(isProxied ? [-untrusted-]{+trusted+} : vendorClient)",
    "bar#XA-4 An endpoint of the request is the caller's in any spelling but the entry's own":
      "if ([-Object.keys(foreign).length > 0-]{+foreign.tokenEndpoint !== undefined+}",
    "bar#XA-4 A token endpoint of the request is the caller's on the vendor's hosts too":
      "if ([-Object.keys(foreign).length > 0-]{+foreign.authorizationEndpoint !== undefined+}",
    "bar#BY-4 A token of a host that a request named is not asked about at the vendor's own":
      '[-foreign.tokenEndpoint === undefined ? resolved : withoutTokenRecipients(resolved)-]{+resolved.id === "" ? withoutTokenRecipients(resolved) : resolved+}',
    "bar#BY-4 A header of the operator's reaches no endpoint of a caller's":
      "([-withoutOperatorsHeaders(vendor)-]{+{ ...withoutOperatorsHeaders(vendor), ...vendor }+}",
    "bar#BY-4 A header of the operator's reaches no tenant that only a caller names":
      "[-isVouchedFor ? vendor : withoutOperatorsHeaders(vendor)-]{+vendor+}",
    "flows/manual-mode, byoc: Every vendor that a caller names is tier 3, also an issuer that sends iss":
      'tier: {+resolved.issExpected ? 1 : +}3, callersPart: "vendor",',
    "flows/vendor-answers: A vendor that a caller names keeps a client waiting for a minute at most":
      "const MAX_SECONDS = [-60-]{+86_400+};",
  },
};
