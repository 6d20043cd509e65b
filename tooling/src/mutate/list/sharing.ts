/**
 * Defences of clients of several owners and of several tenants: the page that names the client, and
 * the tenants that the broker's credentials are used for. Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const TENANTS = "apps/broker/src/vendor-choice/tenants.test.ts";

export const SHARING_DEFENCES: readonly Mutation[] = [
  {
    defence: "A client id of ours that a client brings as its own shows the owner page",
    file: "apps/broker/src/vendor-choice/registrations.ts",
    find: "  if (held === undefined) return false;",
    replace: '  if (held === undefined || credentials.source === "byoc") return false;',
    tests: ["apps/broker/src/flows/byoc.test.ts"],
  },
  {
    defence: "The owner of the asking client counts among the owners, even if it may not use the entry of the id",
    file: "apps/broker/src/vendor-choice/registrations.ts",
    find: "  return same.length > 0 && new Set([owner, ...same",
    replace: "  void owner;\n  return same.length > 0 && new Set([...same",
    tests: ["apps/broker/src/flows/byoc.test.ts"],
  },
  {
    defence: "A client id of ours that a client brings is ours at every vendor",
    file: "apps/broker/src/vendor-choice/registrations.ts",
    find: 'credentials.source === "byoc" || isAt(one, origins)',
    replace: "isAt(one, origins)",
    tests: ["apps/broker/src/flows/byoc.test.ts"],
  },
  {
    defence: "Credentials of ours are one registration at a second host, unless their secret is another",
    file: "apps/broker/src/vendor-choice/registrations.ts",
    find: " || isSameClient(one, secretOf(credentials)),",
    replace: ",",
    tests: ["apps/broker/src/flows/byoc.test.ts"],
  },
  {
    defence: "A client that vouches for browsers is refused where the owner page binds them",
    rows: ["XA-9"],
    file: "apps/broker/src/vendor-choice/registrations.ts",
    find: '  if (client.browserBinding !== "platform" || !needsOwnerPage(choice, client, registrations)) return;',
    replace:
      '  if (client.browserBinding !== "platform" || !needsOwnerPage(choice, client, registrations) || client.owner !== "") return;',
    tests: ["apps/broker/src/flows/owner-page.test.ts"],
  },
  {
    defence: "The flow that the owner page approves needs the cookie of its browser",
    rows: ["XA-9"],
    file: "apps/broker/src/flows/authorize.ts",
    find: '{ cookie, binding: "browser" }',
    replace: "{ cookie }",
    tests: ["apps/broker/src/flows/owner-page.test.ts"],
  },
  {
    defence: "Scopes on the owner page are no sentence",
    file: "apps/broker/src/pages/owner-page.ts",
    find: "html`<code>${one}</code><br>`",
    replace: "html`${one} `",
    tests: ["apps/broker/src/flows/owner-page.test.ts"],
  },
  {
    defence: "No scope on the owner page hides behind others",
    rows: ["XA-9"],
    file: "apps/broker/src/pages/owner-page.ts",
    find: "${scope.map((one) =>",
    replace: "${scope.slice(0, 40).map((one) =>",
    tests: ["apps/broker/src/flows/owner-page.test.ts"],
  },
  {
    defence: "Client ids are compared by letters and digits in lower case",
    file: "apps/broker/src/vendor-choice/registrations.ts",
    find: "    .toLowerCase()\n",
    replace: "",
    tests: ["apps/broker/src/flows/byoc.test.ts"],
  },
  {
    defence: "Retired credentials are indexed too",
    file: "apps/broker/src/vendor-choice/registrations.ts",
    find: "Map.groupBy(entry.credentials,",
    replace: "Map.groupBy(entry.credentials.slice(0, 1),",
    tests: ["apps/broker/src/flows/byoc.test.ts", "apps/broker/src/vendor-choice/registrations.test.ts"],
  },
  {
    defence: "A registration is found by the origin of its token endpoint too",
    file: "apps/broker/src/vendor-choice/registrations.ts",
    find: "const origins = [issuer, authorizationEndpoint, tokenEndpoint].map(",
    replace: "void tokenEndpoint;\n  const origins = [issuer, authorizationEndpoint].map(",
    tests: ["apps/broker/src/flows/byoc.test.ts"],
  },
  {
    defence: "A client id of ours is refused at a vendor that the client names",
    file: "apps/broker/src/vendor-choice/registrations.ts",
    find: "  if (!registrations.has(foldClientId(clientId))) return;",
    replace: '  if (!registrations.has(foldClientId(clientId)) || clientId !== "") return;',
    tests: ["apps/broker/src/flows/byoc.test.ts"],
  },
  {
    defence: "Only the browser that was shown the owner page can answer it (cookie)",
    file: "apps/broker/src/flows/authorize.ts",
    find: 'if (!isFormToken(form.get("csrf"), ownerForm(handle.flowId), cookie)) throw',
    replace:
      'if (isFormToken(form.get("csrf"), ownerForm(handle.flowId), cookie)) return cookie;\n  if (handle.flowId === "") throw',
    tests: ["apps/broker/src/flows/owner-page.test.ts"],
  },
  {
    defence: "A browser that was not shown the owner page cannot approve",
    file: "apps/broker/src/flows/authorize.ts",
    find: '  if (cookie === undefined) throw refusePage(trace, "browser_mismatch");',
    replace: '  if (cookie === undefined) return { value: "x", hash: "x" };',
    tests: ["apps/broker/src/flows/owner-page.test.ts"],
  },
  {
    defence: "The active credentials are those of the tenant that is named",
    rows: ["XA-2"],
    file: "apps/broker/src/vendor-choice/entry.ts",
    find: "entry?.credentials.find((one) => isOfTenant(one, entry, given)) ??",
    replace: "entry?.credentials.find((one) => given !== undefined && one.id === '') ??",
    tests: [TENANTS],
  },
  {
    defence: "A tenant that the file does not list is reached as any host of a request",
    rows: ["EG-7"],
    file: "apps/broker/src/vendor-choice/tenants.ts",
    find: 'filter(([name, known]) => known.includes(values[name] ?? ""));',
    replace: 'filter(([name, known]) => known.length > 0 && values[name] !== "");',
    tests: [TENANTS],
  },
  {
    defence: "The tenants of the file are in no view of the vendor",
    file: "apps/broker/src/config/vendors/tenants.ts",
    find: "Object.hasOwn(tenants, name) ? { ...known?.placeholders[name], ...rest } : spec",
    replace: "Object.hasOwn(tenants, name) && Object.keys(rest).length > 9 ? rest : spec",
    tests: [TENANTS],
  },
  {
    defence: "Tenants issue the clients where an unlisted value is in a host of the secret",
    rows: ["XA-2"],
    file: "packages/oauth-core/src/registry/entry/clients-of.ts",
    find: '!isListed(specs[name])) ? "tenant" : "vendor"',
    replace: '!isListed(specs[name])) && vendor.tokenEndpoint === "" ? "tenant" : "vendor"',
    tests: [TENANTS],
  },
];
