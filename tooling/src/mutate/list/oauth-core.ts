/** Defences of packages/oauth-core/src. list.ts says how to read an entry. */
import type { Defences } from "../mutation.ts";

export const OAUTH_CORE_DEFENCES: Defences = {
  "authorization-server/browser-binding.ts": {
    "bar#XA-9 bar#AS-7 A form token belongs to this form and this browser": "(what, cookie)){+ || sent !== undefined+}",
    "bar#XA-9 bar#AS-7 A form token belongs to one form": 'Buffer.from(value), {+typeof +}what).toString("base64url")',
    "http-layer, flows/finish-callback: A browser keeps the cookies of twenty flows":
      "Math.max(0, names.length - MOST_FLOW_COOKIES{+ * 100+})",
    "routes/routes: bar#RS-7 A platform answers to its own name":
      "return new URL(requestUrl).host [-=== new URL(ownUrl).host-]{+!== new URL(ownUrl).hash+};",
  },
  "authorization-server/client-assertion.ts": {
    "bar#VR-6 An assertion is addressed to our issuer":
      "audience: [-issuer-]{+[issuer, decodeJwt(assertion).aud ?? []].flat()+},",
  },
  "authorization-server/client-authentication.ts": {
    "bar#ST-1 A client secret is compared": "if (client === undefined || [-!matches-]{+(!matches && secret === '')+})",
  },
  "authorization-server/pushed-request.ts": {
    "bar#ST-1 A pushed request belongs to the client that authenticated":
      'if (parameters.require("client_id") [-!== client.clientId-]{+=== ""+}) {',
  },
  "brokered-code/vendor-answer.ts": {
    "X-12 bar#CB-16 iss stays required when metadata no longer advertises it": "issExpected [-||-]{+&&+} issExpected }",
  },
  "brokered-code/callback.ts": {},
  "brokered-code/redeem.ts": {
    "bar#XA-8 A code is redeemed with the redirect URI of its flow":
      'parameters.require("redirect_uri") [-=== flow.redirectUri-]{+!== flow.codeHash+}) return;',
    "bar#AS-6 A redirect URI that is sent to /token is compared although it may be left out":
      'policy.redirectUriAtToken === "optional"[- && !parameters.has("redirect_uri")-]',
    "metadata-document: The code of a native client is redeemed with the exact URI of its request":
      '[- === flow.redirectUri-]{+.replace(/:\\d+/, "") === flow.redirectUri?.replace(/:\\d+/, "")+}',
  },
  "brokered-code/secrets.ts": {
    "bar#VR-1 PKCE #2 differs for each flow": "deriveCodeVerifier(keys.pkce, {+typeof +}name),",
    "bar#VR-3 The nonce differs for each flow": "`nonce\\0${{+typeof +}name}`",
  },
  "brokered-code/pushed-flow.ts": {
    "bar#ST-1 A request_uri belongs to its client":
      "flow.clientId [-!== clientId-]{+=== undefined ||\n    clientId === flow.requestHash+}",
    "bar#CB-7 A request_uri is used once, and again only by the browser that started":
      '[-(stage === "started" &&-]{+stage === "failed" || (stage === "started" || +}',
  },
  "egress/address-ranges.ts": {
    "bar#EG-3 IPv4 addresses of special ranges are not public": '[-  "169.254.0.0/16",\n-]',
    "bar#EG-2 IPv6 addresses outside 2000::/3 are not public":
      'if ([-!globalV6.check(address, "ipv6")-]{+globalV6.rules.length === 0+}',
  },
  "egress/guarded-connection.ts": {
    "bar#EG-4 Every address of a DNS answer is checked, not only the first": ".{+slice(0, 1).+}find(({ address }) => !",
    "bar#EG-10 A vendor's certificate is checked": "rejectUnauthorized: [-true-]{+false+},",
  },
  "egress/exchange.ts": {
    "bar#EG-8 Informational answers without end are cut": "else if ((informational += 1) > {+100 * +}MAX_INFORMATIONAL",
    "bar#EG-8 A protocol that was not asked for ends the call": "else if (status === [-101-]{+199+})",
    "bar#EG-8 An answer beyond its limit is aborted": "createByteCollector(limits.maxBodyBytes{+ * 1e6+})",
  },
  "egress/index.ts": {
    "bar#EG-11 What a request names is not sent through the operator's proxy":
      "fetch : {+proxy.port < 0 ? +}refuseBehindProxy{+ : trusted.fetch+}",
  },
  "egress/messages.ts": {
    "bar#EG-8 A compressed answer grows no further than its limit": "(data, { maxOutputLength: maxBodyBytes {+* 1e3 +}",
  },
  "egress/share.ts": {
    "share, pools: One caller has at most half of an origin's connections":
      "mostOfLane: () => CONNECTIONS_PER_CALLER{+ * 2+},",
    "share, pools: One caller has at most a thousand calls to an origin in flight or waiting":
      "mostInLane: CALLS_PER_CALLER{+ * 9+}",
  },
  "egress/url.ts": {
    "bar#EG-7 A placeholder that stands for a whole host permits no port":
      "[-&& !/^\\{[^{}]*\\}\\.?[^.]*$/.test(host)-])",
  },
  "http/answers.ts": {
    "bar#CB-13 bar#HT-10 Pages are not framed and run no script":
      "const LOCKED_CSP = \"[-default-src 'none'; frame-ancestors 'none'; -]base-uri 'none'\";",
    "bar#HT-10 bar#VR-8 No answer is cached": '[-  "cache-control": "no-store",\n-]',
  },
  "mechanics/exact-json.ts": {
    "exact-json, response, flows/vendor-answers: A number of the vendor's keeps its digits":
      "String(value) [-!== source-]{+=== undefined+} ?",
  },
  "mechanics/expiring-map.ts": {
    "pre-registered/authenticate, expiring-map: A map that unauthenticated callers fill evicts the least recently used entry":
      "maxSize: mostEntries{+ + 100_000+},",
    "A cached entry expires at its second": "{ ttl: seconds * 1000 [-- 1 -]}",
  },
  "mechanics/turns.ts": {
    "turns, share: Calls that wait for a turn are served lane by lane":
      '[-lanes.delete(name);\n      lanes.set(name, lane-]{+if (name === " ") lanes.delete(name+});',
  },
  "protocol/parameters.ts": {
    "bar#ST-4 A caller's further parameters contain no reserved name, however it is spelled":
      'folded.startsWith("code_challenge") || RESERVED_AUTHORIZATION_PARAMETERS.has([-folded-]{+name+})',
  },
  "protocol/pkce.ts": {
    "bar#VR-1 The derived verifier differs for each flow": 'hmac("sha256", key, `pkce\\0${{+typeof +}flowId}`)',
  },
  "protocol/placeholders.ts": {
    "bar#XA-2 An end below which anyone can register a name pins no host": ".[-every-]{+some+}((end) => end.startsWith",
    "bar#XA-2 A caller gives no value that follows from another":
      "if (follows === undefined{+ || Object.hasOwn(values, name)+}) return",
    "placeholders.attacks: A URL template is no longer than a URL": "[-  requireTemplateLength(template.length);\n-]",
    "placeholders.attacks: A URL template stops being filled where it becomes longer than a URL":
      "[-      requireTemplateLength(length);\n-]",
  },
  "authorization-server/redirect-uri.ts": {
    "authorization-server/redirect-uri, metadata-document: The port of localhost is free (this client must be accepted)":
      "(127\\.0\\.0\\.1|\\[::1\\][-|localhost-])(?::",
    "authorization-server/redirect-uri, pushed-request: The list of a backend's redirect URIs is exact, port included":
      "[-includes(requested-]{+some((uri) => uri === requested || differOnlyInLoopbackPort(uri, requested)+}",
    "bar#ST-2 bar#AS-1 A redirect goes only to a URI that was checked": "const [-uri = to[checked]-]{+{ uri } = to+};",
  },
  "protocol/secret.ts": {
    "bar#TS-17 bar#OB-2 A secret is hidden when it is serialised":
      'toJSON(): string {\n    return [-"[secret]"-]{+this.#value+};',
    "bar#TS-17 bar#OB-2 A secret is hidden when it is inspected":
      '[inspect.custom](): string {\n    return [-"[secret]"-]{+this.#value+};',
  },
  "protocol/state.ts": {
    "bar#CB-1 The header of a state is compared with the canonical bytes":
      "if (kid === undefined[- || header !== encodeHeader(typ, kid)-]) throw",
  },
  "protocol/strict-json.ts": {
    "bar#EG-8 JSON is nested 32 levels deep at most": "if (open.length === {+-+}MAX_DEPTH) throw",
  },
  "registry/fields/checks.ts": {
    "token-dialect: The broker's own headers of a token request are not the file's to set":
      "OWN_TOKEN_HEADERS.has([-value.toLowerCase()-]{+`${value}?`+})",
  },
  "registry/operators-vendor.ts": {
    "bar#BY-4 A refresh token of a token endpoint that the operator named is not refreshed at the replaced host":
      '{ ...without(known, [-["refreshEndpoint", ...recipients]-]{+recipients+}), apiHosts }',
  },
  "vendor-client/access-token/check.ts": {
    "bar#BY-4 A checked token goes to no host but those of its connection":
      '[-request.hosts.includes(URL.parse(endpoint)?.host ?? "")-]{+endpoint !== ""+}',
    "A success in words of the vendor's own does not say that a token is live":
      'checkedBy === "[-userinfo-]{+account+}" && found.identity',
    "access-token/check, flows/check: A token of another client does not belong to a connection":
      'clientId [-!== credentials.clientId-]{+=== ""+}',
  },
  "vendor-client/access-token/introspect.ts": {
    "access-token/validate: A token for which the vendor names no client is refused":
      "return clients.[-length > 0 && clients.-]every(",
  },
  "vendor-client/access-token/validate.ts": {
    "validate, refusals: A vendor that cannot name the client of a token validates none when a client is expected":
      "[-  if (credentials !== undefined && check === undefined && !introspects) return false;\n-]",
    "A token of another client is refused": "if (!isIssuedTo(clients, [-credentials-]{+undefined+})) return",
  },
  "vendor-client/answer.ts": {
    "bar#VR-7 HTML is never read": 'const isForm = acceptForm && !isJson && [-FORM.test(text-]{+text.includes("="+});',
  },
  "vendor-client/authorization/url.ts": {
    "bar#ST-4 A vendor's own name of a parameter of ours is fixed by no endpoint and no entry":
      "allowed.has(name) || !isReservedAuthorizationParameter(name[-, vendor-])) add(",
    "bar#ST-4 A caller's further parameters contain no vendor's name of one of ours":
      "if (isReservedAuthorizationParameter(name[-, vendor-])) {",
    "bar#ST-4 The query of an endpoint has no request object":
      'const OF_ENDPOINTS: ReadonlySet<string> = [-new Set(["response_mode"])-]{+OF_ENTRIES+};',
  },
  "vendor-client/binding.ts": {
    "token/request: Codes and refresh tokens go to https alone":
      'url?.protocol [-=== "https:-]{+!== "+}" || (allowLoopback &&',
    "token/dialects: bar#ST-4 A vendor's fixed token parameter takes the place of none of ours":
      ".filter(([name]) => [-!body.has(name)-]{+name !== ''+});",
  },
  "vendor-client/discovery/cache.ts": {
    "bar#JW-4 The cached document of a vendor that is down is used for an hour at most":
      "entry.failedAt = now();\n      const stale = heldWithin(entry, USABLE_SECONDS{+ * 1000+});",
  },
  "vendor-client/discovery/discover.ts": {
    "bar#DI-1 Where the callback takes no POST, metadata with form_post only is refused":
      "deps.takesFormPost [-=== true-]{+!== null+} ?",
    "bar#DI-1 An endpoint in an MCP server's metadata that we never request is a difference":
      '[-reason === "endpoint_forbidden"-]{+reason === ""+} && isOfMcpServer(vendor)',
  },
  "vendor-client/discovery/document.ts": {
    "bar#DI-2 Metadata names other ports at the host of its issuer alone":
      "[- === undefined || issuer.hostname === hostname-]{+?.hostname !== undefined || hostname !== undefined+}",
  },
  "vendor-client/discovery/live.ts": {
    "bar#BY-4 A stored endpoint of an MCP server that its live metadata has elsewhere gets no code":
      "if (stored === undefined || live === undefined || isSameAddress([-stored-]{+live+}",
  },
  "vendor-client/errors.ts": {
    "token/error-response: bar#VR-9 Codes of the browser and of access tokens mean a dead grant at a refresh alone":
      "isDead = [-call.isRefresh === true && -]DEAD_AT_REFRESH",
  },
  "vendor-client/id-token/jwks.ts": {
    "bar#JW-3 A published key that is private or symmetric is skipped":
      "[-some((member) => key[member] !== undefined)-]{+length === 0+}",
  },
  "vendor-client/id-token/checks.ts": {
    "bar#ID-4 The vendor's list says which algorithms an ID token may have":
      "[-!algs.includes(alg)-]{+algs.length === 0+} || !ASYMMETRIC.has(alg)",
    "bar#ID-1 An ID token is from the issuer that was called": "=== undefined) return [-issuer-]{+String(claims.iss)+}",
    "bar#ID-9 at_hash belongs to the access token beside it": "if (atHash [-=== undefined-]{+!== null+}) return true;",
  },
  "vendor-client/issuer.ts": {
    "bar#CB-16 bar#XA-1 iss is the vendor's, byte for byte":
      "iss[- === vendor.issuer-]{+.startsWith(vendor.issuer)+} || isSpellingOf",
  },
  "vendor-client/kept.ts": {
    "The asking client is part of the flow's context": "[-    context.platformClientId,\n-]",
    "bar#XA-5 bar#DI-3 The context hash covers the token endpoint":
      '...FLOW_FIELDS.{+filter((name) => name !== "tokenEndpoint").+}map((name) => vendor[name])',
  },
  "vendor-client/retry-after.ts": {
    "A vendor's own wait ends within a day": "const MAX_SECONDS = [-86_400-]{+86_400_000+};",
  },
  "vendor-client/templates.ts": {
    "A fixed parameter stops being filled where it becomes longer than a URL":
      "[-    requireTemplateLength(length);\n-]",
  },
  "vendor-client/token/long-lived.ts": {
    "bar#VR-5 A failed exchange for a long-lived token loses no token":
      "[-return { ...tokens, vendorData, ...renewing(accessToken, expiresInSeconds) }-]{+throw error+}",
  },
  "vendor-client/token/request.ts": {
    "bar#RF-9 A refused refresh revokes no token but a new refresh token": "else if (isNew{+ || true+}) discard(",
  },
  "vendor-client/token/revoke.ts": {
    "vendor-lab-faults: Nothing is revoked where a revocation ends all grants of the user":
      '[- || vendor.revocation?.ends === "grant"-]) return;',
  },
  "vendor-client/token/validate-response.ts": {
    "bar#RF-6 An ID token at a refresh that is left out because it is old is of the same user":
      "{+if (isCurrent) +}requireSameSubject(named, first);",
    "bar#RF-6 Of old ID tokens only an expired one may have a key that is published no more":
      '[-age === "expired" && header.kid !== undefined-]{+!isCurrent+}',
    "vendor-lab: bar#VR-3 The nonce of an ID token belongs to its flow":
      '[-expectedNonce = nonce.sent ??-]{+{ nonce: given } = parseIdToken(answer.idToken).claims;\n    const expectedNonce = typeof given === "string" ? given :+}',
  },
  "vendor-client/userinfo/account-request.ts": {
    "bar#EG-1 An access token goes to a host of its token response only below the vendor's domain":
      "[-!host.endsWith(`.${below}`)-]{+host === `.${below}`+}",
  },
  "vendor-client/userinfo/identify.ts": {
    "bar#UI-1 The account of new tokens is read from userinfo and compared with the ID token's subject":
      '{ accessToken, subject: idToken[-?.subject-]{+ === undefined ? "" : undefined+},',
  },
  "vendor-client/userinfo/identity.ts": {
    "A number that no double holds identifies no user": "Number.[-isSafeInteger-]{+isInteger+}(value) && value >= 0",
  },
  "vendor-client/userinfo/userinfo.ts": {
    "bar#UI-1 Userinfo names the subject of the ID token": 'subject [-??-]{+=== "" ? subject :+} skipSubjectCheck,',
    "bar#UI-2 Userinfo that is not a JSON object is refused, a JWT included":
      '[-answer = withoutNulls(await readObject(response, CALL))-]{+text = await response.text();\n  const answer = JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString() || text) as JsonObject+}',
    "access-token/check: Only a 403 that names the scope says that a token is live":
      'return [-error.extras.vendorError === "insufficient_scope"-]{+true+}',
  },
};
