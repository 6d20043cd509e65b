/** Defences of which vendor client, callback path and account a flow has. Part of list.ts. */
import type { DefencesByFile } from "../mutation.ts";

export const OWNERSHIP_DEFENCES: DefencesByFile = {
  "apps/broker/src/vendor-choice/endpoints.ts": {
    "The query of an authorization endpoint of the request names no parameter of ours": {
      rows: ["ST-4"],
      find: "  if (authorizationEndpoint === undefined || !namesReservedParameter(authorizationEndpoint, vendor)) return;",
      replace: '  if (authorizationEndpoint !== "" || !namesReservedParameter(authorizationEndpoint, vendor)) return;',
      tests: ["apps/broker/src/vendor-choice/request.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/authorization/url.ts": {
    "A vendor's own name of a parameter of ours is fixed by no endpoint and no entry": {
      rows: ["ST-4"],
      find: "allowed.has(name) || !isReservedAuthorizationParameter(name, vendor)) add(",
      replace: "allowed.has(name) || !isReservedAuthorizationParameter(name)) add(",
    },
  },
  "apps/broker/src/vendor-choice/request.ts": {
    "Credentials of a client's own have no control characters": {
      find: "const CREDENTIAL = /^[^\\p{Cc}]{1,2048}$/u;",
      replace: "const CREDENTIAL = /^[^]{1,2048}$/u;",
    },
    "Names in vendor_params are visible ASCII": {
      rows: ["ST-4"],
      find: "const PARAMETER_NAME = /^[\\x21-\\x7e]{1,128}$/;",
      replace: "const PARAMETER_NAME = /^[^]*$/;",
    },
  },
  "apps/broker/src/vendor-choice/trust.ts": {
    "Every vendor that a caller names is tier 3, also an issuer that sends iss": {
      find: 'tier: 3, callersPart: "vendor",',
      replace: 'tier: resolved.issExpected ? 1 : 3, callersPart: "vendor",',
      tests: ["apps/broker/src/flows/manual-mode.test.ts", "apps/broker/src/flows/byoc.test.ts"],
    },
    "An endpoint of the request is the caller's in any spelling but the entry's own": {
      rows: ["XA-4"],
      find: '  if (Object.keys(foreign).length > 0) return "endpoint";',
      replace: '  if (foreign.tokenEndpoint !== undefined) return "endpoint";',
      tests: ["apps/broker/src/vendor-choice/tier.test.ts"],
    },
    "A token endpoint of the request is the caller's on the vendor's hosts too": {
      rows: ["XA-4"],
      find: '  if (Object.keys(foreign).length > 0) return "endpoint";',
      replace: '  if (foreign.authorizationEndpoint !== undefined) return "endpoint";',
      tests: ["apps/broker/src/vendor-choice/tier.test.ts"],
    },
    "Metadata of an issuer that a request fills counts below the pinned domain alone": {
      rows: ["XA-2", "XA-4"],
      find: 'return leaves ? "metadata" : undefined;',
      replace: 'return leaves && foreign.tokenEndpoint === "" ? "metadata" : undefined;',
      tests: ["apps/broker/src/vendor-choice/tier.test.ts"],
    },
    "A token of a host that a request named is not asked about at the vendor's own": {
      rows: ["BY-4"],
      find: "const located = foreign.tokenEndpoint === undefined ? resolved : withoutTokenRecipients(resolved);",
      replace: 'const located = resolved.id === "" ? withoutTokenRecipients(resolved) : resolved;',
      tests: ["apps/broker/src/flows/check.test.ts"],
    },
  },
  "apps/broker/src/vendor-choice/callback-path.ts": {
    "No callback path lies beneath another": {
      find: "`/v1/custom/${context}/callback`",
      replace: "`${CALLBACK_PATH}/${context}`",
      tests: ["apps/broker/src/flows/manual-mode.test.ts"],
    },
    "The asking client is part of a callback path's context": {
      find: "  for (const field of [clientId, vendor,",
      replace: "  void clientId;\n  for (const field of [vendor,",
      tests: ["apps/broker/src/flows/manual-mode.test.ts"],
    },
    "The vendor client is part of a callback path's context": {
      find: "tokenEndpoint, vendorClientId]) {",
      replace: "tokenEndpoint]) {\n    void vendorClientId;",
      tests: ["apps/broker/src/flows/manual-mode.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/kept.ts": {
    "The asking client is part of the flow's context": {
      find: "    context.platformClientId,\n",
      replace: "",
    },
  },
  "apps/broker/src/flows/policy.ts": {
    "The context of the record equals that of the present configuration, on every leg": {
      find: "  if (choice.contextHash === flow.contextHash) return choice;",
      replace: '  if (choice.contextHash !== "") return choice;',
      tests: ["apps/broker/src/flows/callback.test.ts"],
    },
  },
  "apps/broker/src/vendor-choice/callers-part.ts": {
    "Credentials of the operator are never sent to an endpoint of the caller": {
      find: "  if (callersPart !== undefined) throw overrideNotAllowed",
      replace: '  if (callersPart !== undefined && callersPart !== "endpoint") throw overrideNotAllowed',
      tests: ["apps/broker/src/flows/manual-mode.test.ts", "apps/broker/src/vendor-choice/tier.test.ts"],
    },
  },
  "apps/broker/src/vendor-choice/choose.ts": {
    "An endpoint of the request is refused to the operator's credentials before anything is sent": {
      find: "  requireAllowedPart(callersPartOf(endpoints), rules);",
      replace: "  void callersPartOf(endpoints);",
      tests: ["apps/broker/src/flows/live-metadata.test.ts"],
    },
    "A kept choice is not used for a request that names endpoints or placeholders": {
      find: "kept.entry !== entry || saysMore(target)) return undefined;",
      replace: "kept.entry !== entry || (saysMore(target) && target.vendor === '')) return undefined;",
    },
    "A kept choice is not used after the vendor's metadata changed": {
      rows: ["XA-5"],
      find: "=== kept.vendor ? kept : undefined",
      replace: "!== undefined ? kept : undefined",
    },
  },
  "apps/broker/src/config/build.ts": {
    "A vendor of the operator's own without iss beside another causes a warning": {
      find: "...mixUpWarnings(vendors, own)",
      replace: "...mixUpWarnings(vendors, new Set([...own].slice(0, 0)))",
      tests: ["apps/broker/src/config/warnings.test.ts"],
    },
  },
  "apps/broker/src/grants/account.ts": {
    "A token of a host that a request named goes to no userinfo of the entry": {
      find: "asksUserinfo !== true || choice.tier !== 1) return",
      replace: "asksUserinfo !== true) return",
    },
    "Userinfo is asked only where the operator's file names it": {
      find: "  if (choice.entry?.asksUserinfo !== true || choice.tier",
      replace: "  if (choice.tier",
    },
    "A failing userinfo loses no tokens": {
      find: "  return extras.reason ?? code;",
      replace: "  if (code !== extras.reason) throw error;\n  return code;",
    },
    "A silent userinfo holds tokens up for 3 s at most": {
      find: "  const answer = await Promise.race([asked, late]);",
      replace: "  void late;\n  const answer = await asked;",
    },
  },
  "apps/broker/src/flows/refresh.ts": {
    "A refreshed ID token names the account of the connection": {
      find: "  return iss === undefined || sub === undefined ? undefined : { issuer: iss, subject: sub };",
      replace: '  return iss === undefined || sub !== "" ? undefined : { issuer: iss, subject: sub };',
      tests: ["apps/broker/src/grants/account.test.ts"],
    },
  },
  "apps/broker/src/grants/connection.ts": {
    "A connection that was opened for one client is opened for no other": {
      find: "  const name = `${clientId.length}:${clientId}${value}`;",
      replace: "  const name = value;",
    },
    "No two pairs of a client and a connection have one name": {
      find: "`${clientId.length}:${clientId}${value}`",
      replace: "`${clientId}${value}`",
    },
    "A connection that names a user is not kept opened": {
      find: "  if (namesNoUser(connection)) opened.set(",
      replace: "  if (namesNoUser(connection) || connection.v === 1) opened.set(",
    },
    "A connection is shared by no tokens of another client or key": {
      find: "  if (sealed?.key === key && sealed.clientId === clientId) return sealed.value;",
      replace: "  if (sealed !== undefined) return sealed.value;",
    },
    "A connection without ways to check pins none at a refresh": {
      rows: ["BY-4"],
      find: "  const lacksHosts = connection.checkHosts === undefined && checkHosts.length > 0;",
      replace:
        "  const lacksHosts = (connection.checkHosts ?? []).length < checkHosts.length;\n  if (lacksHosts) connection = { ...connection, checkHosts };",
      tests: ["e2e/attacks/check.attack.test.ts"],
    },
  },
  "apps/broker/src/vendor-choice/entry.ts": {
    "A client's list of vendors holds for a vendor under each of its names": {
      rows: ["BY-5"],
      find: "  requireListed(id, client);\n  return entry;",
      replace: "  requireListed(name, client);\n  return entry;",
      tests: ["apps/broker/src/vendor-choice/request.names.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/access-token/check.ts": {
    "A checked token goes to no host but those of its connection": {
      rows: ["BY-4"],
      find: 'request.hosts.includes(URL.parse(endpoint)?.host ?? "")',
      replace: 'endpoint !== ""',
      tests: [
        "packages/oauth-core/src/vendor-client/access-token/check.test.ts",
        "apps/broker/src/flows/check.test.ts",
        "e2e/attacks/check.attack.test.ts",
      ],
    },
    "A token of another client does not belong to a connection": {
      find: "clientId !== credentials.clientId",
      replace: 'clientId === ""',
      tests: [
        "packages/oauth-core/src/vendor-client/access-token/check.test.ts",
        "apps/broker/src/flows/check.test.ts",
      ],
    },
    "A token of another account does not belong to a connection": {
      rows: ["UI-1"],
      find: "known.subject !== sub",
      replace: 'known.subject === ""',
      tests: [
        "packages/oauth-core/src/vendor-client/access-token/check.test.ts",
        "apps/broker/src/flows/check.test.ts",
        "e2e/scenarios/broker-clients/broker-client-contract.test.ts",
      ],
    },
    "A success in words of the vendor's own does not say that a token is live": {
      find: 'checkedBy === "userinfo" && found.identity',
      replace: 'checkedBy === "account" && found.identity',
    },
  },
  "packages/oauth-core/src/registry/operators-vendor.ts": {
    "Tokens of a token endpoint that the operator named go to no endpoint of the replaced host": {
      rows: ["BY-4"],
      find: "registrableDomainOf(url) !== domain;",
      replace: 'registrableDomainOf(url) !== domain && domain === "";',
      tests: [
        "packages/oauth-core/src/registry/operators-vendor.test.ts",
        "apps/broker/src/config/vendors/moved-vendor.test.ts",
        "packages/mcp-auth/src/config/settings.test.ts",
        "apps/platform/src/oauth/connect.test.ts",
      ],
    },
    "A refresh token of a token endpoint that the operator named is not refreshed at the replaced host": {
      rows: ["BY-4"],
      find: '{ ...without(known, ["refreshEndpoint", ...recipients]), apiHosts }',
      replace: "{ ...without(known, recipients), apiHosts }",
    },
  },
  "packages/broker-client/src/direct/vendor.ts": {
    "The issuer and keys of a registry vendor do not vouch for another party's endpoints": {
      rows: ["BY-4"],
      find: "return isElsewhere ? withoutIssuer(vendor) : vendor;",
      replace: 'return isElsewhere && vendor.id === "" ? withoutIssuer(vendor) : vendor;',
    },
  },
  "packages/oauth-core/src/vendor-client/userinfo/userinfo.ts": {
    "Only a 403 that names the scope says that a token is live": {
      find: 'return error.extras.vendorError === "insufficient_scope"',
      replace: "return true",
      tests: ["packages/oauth-core/src/vendor-client/access-token/check.test.ts"],
    },
  },
  "apps/broker/src/routes/api.ts": {
    "A check of a connection counts as a call to a vendor": {
      rows: ["ST-8"],
      find: 'apiRoute("/v1/check", "vendorCalls"',
      replace: 'apiRoute("/v1/check", "explain"',
      tests: ["apps/broker/src/flows/check.test.ts"],
    },
  },
};
