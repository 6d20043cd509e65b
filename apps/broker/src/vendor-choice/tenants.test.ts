/**
 * Vendors whose tenants issue their own clients: at which tenants the broker's credentials are used,
 * as the file says. The attack is e2e/attacks/tenant-host.attack.test.ts.
 */
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import { load, MINIMAL, problemsOf } from "../config/testing/config-file.ts";
import { issueTokens, testBroker, testClient } from "../testing/test-broker.ts";

const OWN = { vendor_client_id: "mine", vendor_client_secret: "their secret" };
const CREDENTIALS = { client_id: "ours", client_secret: "vendor-secret-0123456789" };
const REFUSED = { error: "unauthorized_client", reason: "tenant_not_listed" };

async function brokerOf(vendors: object) {
  const config = load({ ...MINIMAL, vendors }, { registry: REGISTRY });
  const broker = await testBroker({
    config: { vendors: config.vendors, clients: [testClient("platform")] },
    vendorAnswers: issueTokens,
  });
  const ask = async (vendor: string, placeholders: Record<string, string>, more: Record<string, string> = {}) =>
    (await broker.post("/v1/explain", { vendor, placeholders: JSON.stringify(placeholders), ...more })).body;
  return { ...broker, ask, warnings: config.warnings.filter((warning) => warning.includes("tenants")) };
}

describe("bar#XA-2 credentials of the broker where tenants issue their own clients", () => {
  const okta = (fields: object = {}) => ({ okta: { credentials: CREDENTIALS, ...fields } });
  const listed = okta({ placeholders: { okta_host: { values: ["acme.okta.com"] } } });

  it("bar#XA-2 are used at the tenants of the file alone, and no refusal names those", async () => {
    const { ask, seen, push } = await brokerOf(listed);
    expect(await ask("okta", { okta_host: "acme.okta.com" })).toMatchObject({
      tier: 1,
      clients_of: "tenant",
      credentials: { source: "shared" },
    });
    const body = await ask("okta", { okta_host: "evil.okta.com" });
    expect(body).toMatchObject(REFUSED);
    expect(JSON.stringify(body)).not.toContain("acme");
    const pushed = await push({ vendor: "okta", placeholders: '{"okta_host":"evil.okta.com"}' });
    expect(pushed.body).toMatchObject(REFUSED);
    expect(seen).toEqual([]);
  });

  it("leave other tenants to clients with their own credentials", async () => {
    const { ask, connect, seen, get } = await brokerOf(listed);
    const other = { okta_host: "globex.okta.com" };
    expect(await ask("okta", other, OWN)).toMatchObject({ tier: 1, credentials: { source: "byoc" } });
    for (const [host, more] of [
      ["globex.okta.com", OWN],
      ["acme.okta.com", {}],
    ] as const) {
      await connect({ vendor: "okta", placeholders: JSON.stringify({ okta_host: host }), ...more });
    }
    expect(seen.flatMap(({ form, isUntrusted }) => (form.has("code") ? [isUntrusted] : []))).toEqual([true, false]);
    expect((await get("/v1/vendors/okta")).html).not.toContain("acme.okta.com");
  });

  it("are used nowhere without such a list, which start says", async () => {
    const { ask, warnings } = await brokerOf(okta());
    expect(await ask("okta", { okta_host: "acme.okta.com" })).toMatchObject(REFUSED);
    expect(warnings).toEqual([expect.stringContaining("no vendors.okta.placeholders.okta_host.values")]);
    expect((await brokerOf(listed)).warnings).toEqual([]);
  });

  it("are those of the tenant that is named, where each has its own", async () => {
    const credentials = ["acme", "globex"].map((tenant) => ({
      ...CREDENTIALS,
      id: `of-${tenant}`,
      placeholders: { okta_host: { values: [`${tenant}.okta.com`] } },
    }));
    const { ask, connect, refresh, warnings } = await brokerOf(okta({ credentials }));
    for (const tenant of ["acme", "globex"]) {
      const body = await ask("okta", { okta_host: `${tenant}.okta.com` });
      expect(body["credentials"]).toMatchObject({ id: `of-${tenant}` });
    }
    expect(await ask("okta", { okta_host: "evil.okta.com" })).toMatchObject(REFUSED);
    expect(warnings).toEqual([]);
    const placeholders = '{"okta_host":"globex.okta.com"}';
    const { connection } = await connect({ vendor: "okta", placeholders });
    expect((await refresh({ connection })).response.status).toBe(200);
  });

  it("bar#BY-4 refresh no connection of a tenant that the file lists no more", async () => {
    const broker = await brokerOf(listed);
    const form = { vendor: "okta", placeholders: '{"okta_host":"acme.okta.com"}' };
    const { connection } = await broker.connect(form);
    const before = broker.seen.length;
    const entry = broker.deps.vendors.get("okta") ?? expect.fail("no entry");
    Object.assign(entry, { tenants: { okta_host: ["globex.okta.com"] } });
    expect((await broker.refresh({ connection })).body).toMatchObject(REFUSED);
    expect(broker.seen).toHaveLength(before);
  });

  it("may name only tenants of their vendor", () => {
    const vendors = okta({
      placeholders: { okta_host: { values: ["acme.okta.com"] } },
      credentials: { ...CREDENTIALS, placeholders: { okta_host: { values: ["evil.okta.com"] } } },
    });
    const problem = "credentials[0].placeholders.okta_host has a value that is no tenant of this vendor";
    expect(problemsOf({ vendors }, { registry: REGISTRY })).toEqual([`vendors.okta.${problem}`]);
    const github = { credentials: { ...CREDENTIALS, placeholders: { x: { values: ["y"] } } } };
    expect(problemsOf({ vendors: { github } }, { registry: REGISTRY })).toHaveLength(1);
  });
});

describe("who issues the clients", () => {
  const own = (fields: object) => ({
    own: {
      name: "Own",
      authorization_endpoint: "https://{tenant}.own.example/a",
      token_endpoint: "https://{tenant}.own.example/t",
      credentials: CREDENTIALS,
      placeholders: { tenant: {} },
      ...fields,
    },
  });
  const clientsOf = async (vendors: object, id: string) => {
    const { get } = await brokerOf(vendors);
    return (JSON.parse((await get(`/v1/vendors/${id}`)).html) as Record<string, unknown>)["clients_of"];
  };

  it.each(["shopify", "zendesk", "salesforce", "github", "zoho", "pingone"])("is the vendor at %s", async (id) => {
    expect(await clientsOf({}, id)).toBe("vendor");
  });

  it.each(["auth0", "okta", "servicenow", "cognito"])("is the tenant at %s", async (id) => {
    expect(await clientsOf({}, id)).toBe("tenant");
  });

  it("is the tenant where a value that the entry does not list is in a host of the secret", async () => {
    expect(await clientsOf(own({}), "own")).toBe("tenant");
    expect(await clientsOf(own({ placeholders: { tenant: { values: ["a"] } } }), "own")).toBe("vendor");
    const token_endpoint = "https://own.example/t";
    expect(await clientsOf(own({ token_endpoint }), "own")).toBe("vendor");
    const revocation_endpoint = "https://{tenant}.own.example/r";
    expect(await clientsOf(own({ token_endpoint, revocation_endpoint }), "own")).toBe("tenant");
  });

  it("is what the file says", async () => {
    const any = await brokerOf(own({ clients_of: "vendor" }));
    expect(await any.ask("own", { tenant: "any" })).toMatchObject({ tier: 1, clients_of: "vendor" });
    expect(any.warnings).toEqual([]);
    const one = await brokerOf(own({ clients_of: "tenant", placeholders: { tenant: { values: ["a"] } } }));
    expect(await one.ask("own", { tenant: "a" })).toMatchObject({ tier: 1, clients_of: "tenant" });
    expect(await one.ask("own", { tenant: "b" })).toMatchObject(REFUSED);
    expect(await one.ask("own", { tenant: "b" }, OWN)).toMatchObject({ tier: 1 });
    const usual = await brokerOf(own({ placeholders: { tenant: { default: "a" } } }));
    expect((await usual.ask("own", {}))["credentials"]).toMatchObject({ source: "shared" });
    expect(await usual.ask("own", { tenant: "b" })).toMatchObject(REFUSED);
  });

  it("is the tenant in the path, where the file says so", async () => {
    const listed = { clients_of: "tenant", placeholders: { tenant: { values: ["a"] } } };
    const { ask } = await brokerOf(own({ token_endpoint: "https://own.example/{tenant}/t", ...listed }));
    expect(await ask("own", { tenant: "a" })).toMatchObject({ tier: 1 });
    expect(await ask("own", { tenant: "b" })).toMatchObject(REFUSED);
  });

  it("leaves a listed whole host to the operator's credentials, any other to tier 3", async () => {
    const host = { host: { values: ["sso.acme.example"] } };
    const { ask } = await brokerOf({ keycloak: { credentials: CREDENTIALS, enabled: true, placeholders: host } });
    const values = { host: "sso.acme.example", realm: "r" };
    expect(await ask("keycloak", values)).toMatchObject({ tier: 1, credentials: { source: "shared" } });
    const evil = { ...values, host: "evil.example" };
    const refused = { error: "unauthorized_client", reason: "override_not_allowed" };
    expect(await ask("keycloak", evil)).toMatchObject(refused);
    expect(await ask("keycloak", evil, OWN)).toMatchObject({ tier: 3 });
  });
});
