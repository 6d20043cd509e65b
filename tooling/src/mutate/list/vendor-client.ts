/**
 * Defences of packages/oauth-core/src/vendor-client without egress: callback, ID tokens, keys,
 * metadata, tokens. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const VENDOR_CLIENT_DEFENCES: DefencesByFile = {
  "packages/oauth-core/src/vendor-client/issuer.ts": {
    "iss is required when the vendor sends it": {
      rows: ["CB-16"],
      find: "if (!vendor.issExpected) return;",
      replace: "if (vendor.issExpected || true) return;",
      tests: ["packages/oauth-core/src/vendor-client/issuer.test.ts", "apps/broker/src/flows/callback.test.ts"],
    },
    "iss is the vendor's, byte for byte": {
      rows: ["CB-16", "XA-1"],
      find: "iss === vendor.issuer || isSpellingOf",
      replace: "iss.startsWith(vendor.issuer) || isSpellingOf",
    },
    "iss of a vendor without an issuer must be of its origin": {
      rows: ["CB-16"],
      find: "return URL.parse(iss)?.origin === new URL(authorizationEndpoint).origin;",
      replace: "return URL.parse(iss)?.origin !== new URL(authorizationEndpoint).hash;",
    },
  },
  "packages/oauth-core/src/vendor-client/id-token/verify.ts": {
    "The vendor's list says which algorithms an ID token may have": {
      rows: ["ID-4"],
      find: "!algs.includes(alg) || !ASYMMETRIC.has(alg)",
      replace: "algs.length === 0 || !ASYMMETRIC.has(alg)",
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
    "An ID token has no members that change how it is read": {
      rows: ["ID-5"],
      find: "if ([zip, crit, b64].some((value) => value !== undefined))",
      replace: "if ([zip, crit, b64].length === 0)",
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
    "The signature of an ID token is verified": {
      rows: ["ID-2", "ID-3"],
      find: "await compactVerify(idToken, key, { algorithms: [alg] });",
      replace: "void [compactVerify, idToken, key];",
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
    "An ID token is from the issuer that was called": {
      rows: ["ID-1"],
      find: "if (issuerTemplate === undefined) return issuer;",
      replace: "if (issuerTemplate === undefined) return String(claims.iss);",
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
    "Our client is the only audience of an ID token": {
      rows: ["ID-7"],
      find: "if (audiences.length > 1 && additionalAudiences !== true) throw",
      replace: "if (audiences.length > 1 && additionalAudiences === false) throw",
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
    "Our client is among the audiences of an ID token": {
      rows: ["ID-7"],
      find: "if (!audiences.includes(clientId)) throw",
      replace: "if (audiences.length === 0) throw",
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
    "An ID token was issued to our client": {
      rows: ["ID-7"],
      find: 'if (azp !== undefined && azp !== clientId) throw refused("azp is not this client");',
      replace: "void azp;",
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
    "An ID token was issued recently": {
      rows: ["ID-6"],
      find: 'return issuedAt < at - MAX_AGE_SECONDS ? "old" : "current";',
      replace: 'return issuedAt < at - 1000 * MAX_AGE_SECONDS ? "old" : "current";',
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
    "The subject of an ID token is a proper text": {
      rows: ["ID-8"],
      find: 'if (typeof sub === "string" && /^[\\x20-\\x7e]{1,255}$/.test(sub)) return sub;',
      replace: 'if (typeof sub === "string") return sub;',
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
    "at_hash belongs to the access token beside it": {
      rows: ["ID-9"],
      find: "if (atHash === undefined) return true;",
      replace: "if (atHash !== null) return true;",
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
    "A refreshed ID token names the same user": {
      rows: ["RF-6"],
      find: "if (idToken.issuer === first.issuer && idToken.subject === first.subject) return;",
      replace: "if (idToken.issuer === first.issuer) return;",
      tests: ["packages/oauth-core/src/vendor-client/token/refresh.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/token/validate.ts": {
    "An ID token at a refresh that is left out because it is old is of the same user": {
      rows: ["RF-6"],
      find: "requireSameSubject(named, first);",
      replace: "if (isCurrent) requireSameSubject(named, first);",
      tests: ["packages/oauth-core/src/vendor-client/token/refresh.test.ts"],
    },
    "Of old ID tokens only an expired one may have a key that is published no more": {
      rows: ["RF-6"],
      find: 'age === "expired" && header.kid !== undefined',
      replace: "!isCurrent",
      tests: ["packages/oauth-core/src/vendor-client/token/refresh.test.ts"],
    },
    "At the first answer an ID token is new": {
      rows: ["ID-6", "ID-9"],
      find: "if (nonce !== undefined) throw refused(",
      replace: "if (nonce === null) throw refused(",
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
    "The nonce of an ID token belongs to its flow": {
      rows: ["VR-3"],
      find: "const expectedNonce = nonce.sent ?? expectNoNonce;",
      replace:
        'const { nonce: given } = parseIdToken(answer.idToken).claims;\n    const expectedNonce = typeof given === "string" ? given : expectNoNonce;',
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/binding.ts": {
    "Codes and refresh tokens go to https alone": {
      find: 'url?.protocol === "https:" || isInsecure ? url?.href : undefined',
      replace: 'url?.protocol !== "" || isInsecure ? url?.href : undefined',
      tests: ["packages/oauth-core/src/vendor-client/token/request.test.ts"],
    },
    "A vendor's fixed token parameter takes the place of none of ours": {
      rows: ["ST-4"],
      find: ".filter(([name]) => !body.has(name));",
      replace: ".filter(([name]) => name !== '');",
      tests: ["packages/oauth-core/src/vendor-client/token/dialects.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/token/redeem.ts": {
    "A vendor that granted openid answers with an ID token": {
      rows: ["ID-1"],
      find: "if (isGranted || isOnlyBinding)",
      replace: 'if (isGranted && isOnlyBinding && nonce === "")',
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/id-token/jwks.ts": {
    "A published key that is private or symmetric is skipped": {
      rows: ["JW-3"],
      find: "if (!KEY_TYPES.has(kty) || SECRET_MEMBERS.some((member) => key[member] !== undefined)) return false;",
      replace: "if (!KEY_TYPES.has(kty) || SECRET_MEMBERS.length === 0) return false;",
    },
    "A key set has a hundred keys at most": {
      rows: ["JW-3"],
      find: "if (keys.length > MAX_KEYS) throw",
      replace: "if (keys.length > MAX_KEYS ** 9) throw",
    },
    "A short RSA key verifies nothing": {
      rows: ["JW-3"],
      find: "(modulusLength ?? 0) >= MIN_RSA_BITS",
      replace: "(modulusLength ?? 0) >= MIN_RSA_BITS / 4",
    },
  },
  "packages/oauth-core/src/vendor-client/discovery/cache.ts": {
    "The cached document of a vendor that is down is used for an hour at most": {
      rows: ["JW-4"],
      find: "      entry.failedAt = now();\n      const stale = heldWithin(entry, USABLE_SECONDS);",
      replace: "      entry.failedAt = now();\n      const stale = heldWithin(entry, USABLE_SECONDS * 1000);",
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab-keys.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/discovery/document.ts": {
    "Metadata belongs to the requested issuer": {
      rows: ["DI-1"],
      find: "if (document.issuer !== issuer) {",
      replace: "if (document.issuer.length > 9000) {",
      tests: ["packages/oauth-core/src/vendor-client/discovery/discover.test.ts"],
    },
    "Metadata names only permitted endpoints": {
      rows: ["DI-2"],
      find: "    requireEndpoint(value, name, deps, issuer);\n",
      replace: "    void [requireEndpoint, deps, issuer];\n",
      tests: ["packages/oauth-core/src/vendor-client/discovery/discover.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/discovery/live.ts": {
    "Metadata of an MCP server that was reached and is wrong leads to no stored endpoints": {
      rows: ["DI-1"],
      find: "if (!isFallBack || !isOutage(error)) throw error;",
      replace: "if (!isFallBack) throw error;",
    },
    "Stored endpoints of an MCP server are used only where the entry says so": {
      rows: ["DI-1"],
      find: 'const isFallBack = vendor.endpointsFrom === "metadata, else stored";',
      replace: "const isFallBack = vendor.endpointsFrom !== undefined;",
    },
    "An MCP server that names another issuer than its entry is refused": {
      rows: ["DI-1"],
      find: 'if (named.some((one) => typeof one === "string" && URL.parse(one)?.href === href)) return;',
      replace: 'if (href !== "" && named.length > 0) return;',
    },
    "A stored endpoint of an MCP server that its live metadata has elsewhere gets no code": {
      rows: ["BY-4"],
      find: "if (stored === undefined || live === undefined || isSameAddress(stored, live)) continue;",
      replace: "if (stored === undefined || live === undefined || isSameAddress(live, live)) continue;",
      tests: [
        "packages/oauth-core/src/vendor-client/discovery/stored-endpoints.test.ts",
        "apps/broker/src/flows/live-metadata.test.ts",
      ],
    },
    "Live metadata names the authorization and the token endpoint at hosts of the vendor": {
      rows: ["BY-4"],
      find: "if (url === undefined || isOwn(url)) continue;",
      replace: "if (url === undefined || isOwn(url) || url.length > 0) continue;",
    },
    "A further endpoint that live metadata names elsewhere gets no token": {
      rows: ["BY-4"],
      find: '!OPTIONAL.has(name) || (typeof url === "string" && isOwn(url)),',
      replace: '!OPTIONAL.has(name) || (typeof url === "string" && isOwn !== undefined),',
    },
  },
  "packages/oauth-core/src/vendor-client/answer.ts": {
    "A redirect from an endpoint is refused": {
      rows: ["EG-12", "EG-6"],
      find: "if (status >= 200 && (status < 300 || status >= 400)) return;",
      replace: "if (status >= 200) return;",
      tests: ["packages/oauth-core/src/vendor-client/token/response.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/token/response.ts": {
    "A token is printable ASCII": {
      rows: ["VR-7"],
      find: 'return typeof value === "string" && TOKEN.test(value);',
      replace: 'return typeof value === "string" && value !== "";',
    },
  },
  "packages/oauth-core/src/vendor-client/registration/endpoint.ts": {
    "An initial access token goes to the vendor's own domain only": {
      rows: ["BY-4"],
      find: "if (own.includes(registrableDomainOf(endpoint))) return;",
      replace: "if (own.length > 0) return;",
    },
  },
  "packages/oauth-core/src/vendor-client/kept.ts": {
    "The context hash covers the token endpoint": {
      rows: ["XA-5", "DI-3"],
      find: "...FLOW_FIELDS.map((name) => vendor[name])",
      replace: '...FLOW_FIELDS.filter((name) => name !== "tokenEndpoint").map((name) => vendor[name])',
    },
  },
  "packages/oauth-core/src/vendor-client/token/long-lived.ts": {
    "A failed exchange for a long-lived token loses no token": {
      rows: ["VR-5"],
      find: "return { ...tokens, vendorData, refreshToken: accessToken, ...refreshLifetime(expiresInSeconds) };",
      replace: "throw error;",
    },
  },
  "packages/oauth-core/src/vendor-client/authorization/url.ts": {
    "A vendor with PKCE gets a challenge": {
      rows: ["VR-1"],
      find: 'if (pkce !== "none") {',
      replace: 'if (pkce !== "none" && request.codeChallenge === "") {',
    },
    "A caller's further parameters contain no reserved name at the vendor": {
      rows: ["ST-4"],
      find: "if (isReservedAuthorizationParameter(name, vendor)) {",
      replace: "if (Object.values(vendor.parameterNames).includes(name)) {",
    },
    "A caller's further parameters contain no vendor's name of one of ours": {
      rows: ["ST-4"],
      find: "if (isReservedAuthorizationParameter(name, vendor)) {",
      replace: "if (isReservedAuthorizationParameter(name)) {",
      tests: ["packages/oauth-core/src/vendor-client/dialects.test.ts"],
    },
    "The query of an endpoint has no request object": {
      rows: ["ST-4"],
      find: 'const OF_ENDPOINTS: ReadonlySet<string> = new Set(["response_mode"]);',
      replace: "const OF_ENDPOINTS: ReadonlySet<string> = OF_ENTRIES;",
      tests: ["packages/oauth-core/src/vendor-client/dialects.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/authorization/demands.ts": {
    "What metadata demands and we do not do is refused before the browser leaves": {
      rows: ["DI-1"],
      find: "  if (unmet === undefined) return;",
      replace: "  if (unmet === undefined || scope.length >= 0) return;",
      tests: [
        "packages/oauth-core/src/vendor-client/authorization/demands.test.ts",
        "apps/broker/src/flows/demands.test.ts",
      ],
    },
  },
  "packages/oauth-core/src/vendor-client/discovery/discover.ts": {
    "Where the callback takes no POST, metadata with form_post only is refused": {
      rows: ["DI-1"],
      find: "deps.takesFormPost === true ?",
      replace: "deps.takesFormPost !== null ?",
      tests: [
        "packages/oauth-core/src/vendor-client/authorization/demands.test.ts",
        "packages/broker-client/src/direct/vendor.test.ts",
      ],
    },
  },
};
