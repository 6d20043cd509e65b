/**
 * Attacker: a client of the broker with a tenant of its own at an honest vendor, where tenants run
 * code on their host (a shop's app proxy, an instance's scripted API). Goal: a code that another
 * honest vendor, which sends no `iss`, issued for another user, redeemed in the attacker's own flow
 * there. Defence: an endpoint of the request that is not, character for character, the entry's own
 * is the caller's (foreignEndpoints), so that the flow has its own callback path, which an honest
 * vendor does not know.
 */
import { ownerOf } from "@oauth-broker/simulators";
import * as trustModule from "@oauth-broker/broker/src/vendor-choice/trust.ts";
import * as tenantsModule from "@oauth-broker/broker/src/vendor-choice/tenants.ts";
import { describe, expect, it } from "vitest";
import { basicSentTo, HONEST, vendorAt, VENDOR_CLIENT } from "./support/names.ts";
import { createBouncingVendor, crossApp } from "./support/bouncing-vendor.ts";
import { expectRefusalPage, without } from "./support/outcomes.ts";
import { createBackend, createBrowser, type Form, openScene, parameter } from "./support/actors.ts";
import { createFixture } from "./support/fixture.ts";

/** The attacker's own registration at its own tenant. */
const ATTACKERS = { vendor_client_id: "attackers", vendor_client_secret: "attackers-secret-0123456789abcdef" };

interface Tenancy {
  readonly host: string;
  readonly form: Form;
  /** How the operator has switched the vendor on. */
  readonly entry: Readonly<Record<string, object>>;
}

const TENANCIES: readonly (readonly [string, Tenancy])[] = [
  ["a shop", tenancy("https://attacker.myshopify.com", "shopify", "shop")],
  ["an instance", tenancy("https://attacker.service-now.com", "servicenow", "instance")],
  ["an account at a host that all share", { host: "https://discord.com", form: { vendor: "discord" }, entry: {} }],
];

function tenancy(host: string, vendor: string, placeholder: string): Tenancy {
  return {
    host,
    form: { vendor, placeholders: JSON.stringify({ [placeholder]: "attacker" }) },
    entry: { [vendor]: { enabled: true } },
  };
}

async function bounce({ host, form, entry }: Tenancy) {
  const tenant = createBouncingVendor({ origin: host, sendsIss: false });
  const entries = { honest: { name: "Honest", issuer: HONEST }, ...entry };
  const given = { vendor: { sendsIss: false }, vendors: [tenant], entries };
  const { fixture, foe, attacker, victim } = await openScene(given);
  const endpoints = { authorization_endpoint: `${host}/authorize`, token_endpoint: `${host}/token` };
  const lure = [foe, { ...form, ...endpoints, ...ATTACKERS }] as const;
  return { fixture, tenant, ...(await crossApp({ attacker, victim, own: foe, lure, evil: tenant })) };
}

describe("X-2 the operator's secret of one tenant at the tenant of the attacker", () => {
  const EVIL_TENANT = "https://attacker.idp.example";

  async function ask() {
    const tenant = vendorAt(EVIL_TENANT, { sendsIss: false });
    const idp = {
      name: "IdP",
      authorization_endpoint: "https://{tenant}.idp.example/authorize",
      token_endpoint: "https://{tenant}.idp.example/token",
      clients_of: "tenant",
      placeholders: { tenant: { values: ["acme"] } },
    };
    const fixture = await createFixture({ vendors: [tenant], entries: { idp } });
    const foe = createBackend(fixture, "other");
    return { fixture, tenant, foe, form: { vendor: "idp", placeholders: '{"tenant":"attacker"}' } };
  }

  it("bar#XA-2 X-2 is refused without naming the tenants; nothing is sent", async () => {
    const { foe, form, fixture } = await ask();
    const { status, body } = await foe.par(form);
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { error: "unauthorized_client", reason: "tenant_not_listed" },
    });
    expect(JSON.stringify(body)).not.toContain("acme");
    expect(fixture.outbound).toEqual([]);
  });

  it("X-2 twin: without isOfTenant the attacker's token endpoint reads it", async () => {
    without(tenantsModule, () => ({ isOfTenant: () => true }));
    const { foe, form, fixture, tenant } = await ask();
    await foe.connect(createBrowser(fixture, "attacker"), form);
    expect(basicSentTo(tenant)).toContain(VENDOR_CLIENT.clientSecret);
  });
});

describe("X-1 X-13 an honest code comes back in a flow at a tenant's host of a catalogue vendor", () => {
  it.each(TENANCIES)("bar#XA-1 bar#XA-4 is refused by the path of its callback: %s", async (_, tenancy) => {
    const { destination, answer, tenant, fixture } = await bounce(tenancy);
    expect(parameter(answer, "code")).toMatch(/^code-of-victim-/);
    expectRefusalPage(destination.page, "path_mismatch", [parameter(answer, "code"), parameter(answer, "state")]);
    expect(tenant.tokenRequests).toEqual([]);
    expect(fixture.logLines.join("")).not.toContain(parameter(answer, "code"));
  });

  it.each(TENANCIES)(
    "twin: if all hosts were the vendor's, the attacker would hold the tokens: %s",
    async (_, tenancy) => {
      // As it was: the hosts of the vendor are the vendor's, for every request that fills them.
      without(trustModule, ({ resolveTrusted }) => ({
        resolveTrusted: async (...given) => {
          const trusted = await resolveTrusted(...given);
          return trusted.callersPart === "endpoint" ? { ...trusted, tier: 1 } : trusted;
        },
      }));
      const { stolen, redeemStolen } = await bounce(tenancy);
      expect(stolen).toMatch(/^code-of-victim-/);
      expect(ownerOf((await redeemStolen()).body["access_token"])).toBe("victim");
    },
  );
});
