/**
 * Defences of clients of several owners and of several tenants: the page that names the client, and
 * the tenants that the broker's credentials are used for. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const SHARING_DEFENCES: DefencesByFile = {
  "apps/broker/src/vendor-choice/registrations.ts": {
    "A client id of ours that a client brings as its own shows the owner page": {
      find: "  if (held === undefined) return false;",
      replace: '  if (held === undefined || credentials.source === "byoc") return false;',
      tests: ["apps/broker/src/flows/byoc.test.ts"],
    },
    "The owner of the asking client counts among the owners, even if it may not use the entry of the id": {
      find: "  return same.length > 0 && new Set([owner, ...same",
      replace: "  void owner;\n  return same.length > 0 && new Set([...same",
      tests: ["apps/broker/src/flows/byoc.test.ts"],
    },
    "A client id of ours that a client brings is ours at every vendor": {
      find: 'credentials.source === "byoc" || isAt(one, origins)',
      replace: "isAt(one, origins)",
      tests: ["apps/broker/src/flows/byoc.test.ts"],
    },
    "Credentials of ours are one registration at a second host, unless their secret is another": {
      find: " || isSameClient(one, secretOf(credentials)),",
      replace: ",",
      tests: ["apps/broker/src/flows/byoc.test.ts"],
    },
    "A client that vouches for browsers is refused where the owner page binds them": {
      rows: ["XA-9"],
      find: '  if (client.browserBinding !== "platform" || !needsOwnerPage(choice, client, registrations)) return;',
      replace:
        '  if (client.browserBinding !== "platform" || !needsOwnerPage(choice, client, registrations) || client.owner !== "") return;',
      tests: ["apps/broker/src/flows/owner-page.test.ts"],
    },
    "Client ids are compared by letters and digits in lower case": {
      find: "    .toLowerCase()\n",
      replace: "",
      tests: ["apps/broker/src/flows/byoc.test.ts"],
    },
    "Retired credentials are indexed too": {
      find: "Map.groupBy(entry.credentials,",
      replace: "Map.groupBy(entry.credentials.slice(0, 1),",
      tests: ["apps/broker/src/flows/byoc.test.ts", "apps/broker/src/vendor-choice/registrations.test.ts"],
    },
    "A registration is found by the origin of its token endpoint too": {
      find: "const origins = [issuer, authorizationEndpoint, tokenEndpoint].map(",
      replace: "void tokenEndpoint;\n  const origins = [issuer, authorizationEndpoint].map(",
      tests: ["apps/broker/src/flows/byoc.test.ts"],
    },
    "A client id of ours is refused at a vendor that the client names": {
      find: "  if (!registrations.has(foldClientId(clientId))) return;",
      replace: '  if (!registrations.has(foldClientId(clientId)) || clientId !== "") return;',
      tests: ["apps/broker/src/flows/byoc.test.ts"],
    },
  },
  "apps/broker/src/flows/authorize.ts": {
    "The flow that the owner page approves needs the cookie of its browser": {
      rows: ["XA-9"],
      find: '{ cookie, binding: "browser" }',
      replace: "{ cookie }",
      tests: ["apps/broker/src/flows/owner-page.test.ts"],
    },
    "Only the browser that was shown the owner page can answer it (cookie)": {
      find: 'if (!isFormToken(form.get("csrf"), ownerForm(handle.flowId), cookie)) throw',
      replace:
        'if (isFormToken(form.get("csrf"), ownerForm(handle.flowId), cookie)) return cookie;\n  if (handle.flowId === "") throw',
      tests: ["apps/broker/src/flows/owner-page.test.ts"],
    },
    "A browser that was not shown the owner page cannot approve": {
      find: '  if (cookie === undefined) throw refusePage(trace, "browser_mismatch");',
      replace: '  if (cookie === undefined) return { value: "x", hash: "x" };',
      tests: ["apps/broker/src/flows/owner-page.test.ts"],
    },
  },
  "apps/broker/src/pages/owner-page.ts": {
    "Scopes on the owner page are no sentence": {
      find: "html`${meaning}<code>${one}</code><br>`",
      replace: "html`${meaning}${one} `",
      tests: ["apps/broker/src/flows/owner-page.test.ts"],
    },
    "No scope on the owner page hides behind others": {
      rows: ["XA-9"],
      find: "${scope.map((one) =>",
      replace: "${scope.slice(0, 40).map((one) =>",
      tests: ["apps/broker/src/flows/owner-page.test.ts"],
    },
  },
  "apps/broker/src/vendor-choice/entry.ts": {
    "The active credentials are those of the tenant that is named": {
      rows: ["XA-2"],
      find: "entry?.credentials.find((one) => isOfTenant(one, entry, given)) ??",
      replace: "entry?.credentials.find((one) => given !== undefined && one.id === '') ??",
      tests: ["apps/broker/src/vendor-choice/tenants.test.ts"],
    },
  },
  "apps/broker/src/vendor-choice/tenants.ts": {
    "A tenant that the file does not list is reached as any host of a request": {
      rows: ["EG-7"],
      find: 'filter(([name, known]) => known.includes(values[name] ?? ""));',
      replace: 'filter(([name, known]) => known.length > 0 && values[name] !== "");',
    },
  },
  "apps/broker/src/config/vendors/tenants.ts": {
    "The tenants of the file are in no view of the vendor": {
      find: "Object.hasOwn(tenants, name) ? { ...known?.placeholders[name], ...rest } : spec",
      replace: "Object.hasOwn(tenants, name) && Object.keys(rest).length > 9 ? rest : spec",
      tests: ["apps/broker/src/vendor-choice/tenants.test.ts"],
    },
  },
  "packages/oauth-core/src/registry/entry/clients-of.ts": {
    "Tenants issue the clients where an unlisted value is in a host of the secret": {
      rows: ["XA-2"],
      find: '!isListed(specs[name])) ? "tenant" : "vendor"',
      replace: '!isListed(specs[name])) && vendor.tokenEndpoint === "" ? "tenant" : "vendor"',
      tests: ["apps/broker/src/vendor-choice/tenants.test.ts"],
    },
  },
};
