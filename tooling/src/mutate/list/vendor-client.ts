/** Defences of packages/oauth-core/src. list.ts says how to read an entry. */
import type { Defences } from "../mutation.ts";

export const VENDOR_CLIENT_DEFENCES: Defences = {
  "vendor-client/access-token/check.ts": {
    "bar#BY-4 A checked token goes to no host but those of its connection":
      '[-request.hosts.includes(URL.parse(endpoint)?.host ?? "")-]{+endpoint !== ""+}',
    "A success in words of the vendor's own does not say that a token is live":
      'checkedBy === "[-userinfo-]{+account+}" && found.identity',
    "access-token/check, flows/check: A token of another client does not belong to a connection":
      'clientId [-!== credentials.clientId-]{+=== ""+}',
  },
  "vendor-client/access-token/introspect.ts": {
    "issued-to, introspect: A token for which the vendor names no client is refused":
      "return clients.[-length > 0 && clients.-]every(",
  },
  "vendor-client/access-token/validate.ts": {
    "validate, refusals: A vendor that cannot name the client of a token validates none when a client is expected":
      "[-  if (credentials !== undefined && check === undefined && !introspects) return false;\n-]",
    "A token of another client is refused": "if (!isIssuedTo(clients, [-credentials-]{+undefined+})) return",
  },
  "vendor-client/answer.ts": {
    "bar#VR-7 HTML is never read": 'const isForm = acceptForm && !isJson && [-FORM.test(text-]{+text.includes("="+});',
    "bar#EG-12 bar#EG-6 A redirect from an endpoint is refused": "status >= 200[- && (status < 300 || status >= 400)-]",
  },
  "vendor-client/authorization/url.ts": {
    "bar#ST-4 A vendor's own name of a parameter of ours is fixed by no endpoint and no entry":
      "allowed.has(name) || !isReservedAuthorizationParameter(name[-, vendor-])) add(",
    "bar#VR-1 A vendor with PKCE gets a challenge": 'if (pkce !== "none"{+ && request.codeChallenge === ""+}) {',
    "bar#ST-4 A caller's further parameters contain no vendor's name of one of ours":
      "if (isReservedAuthorizationParameter(name[-, vendor-])) {",
    "bar#ST-4 The query of an endpoint has no request object":
      'const OF_ENDPOINTS: ReadonlySet<string> = [-new Set(["response_mode"])-]{+OF_ENTRIES+};',
  },
  "vendor-client/binding.ts": {
    "token/request: Codes and refresh tokens go to https alone":
      'url?.protocol [-=== "https:-]{+!== "+}" || isInsecure ? url?.href :',
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
      "return [-isRefresh === true && -]DEAD_AT_REFRESH",
  },
  "vendor-client/id-token/jwks.ts": {
    "bar#JW-3 A published key that is private or symmetric is skipped":
      "[-some((member) => key[member] !== undefined)-]{+length === 0+}",
  },
  "vendor-client/id-token/validate.ts": {
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
      "[-return { ...tokens, vendorData, refreshToken: accessToken, ...refreshLifetime(expiresInSeconds) }-]{+throw error+}",
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
