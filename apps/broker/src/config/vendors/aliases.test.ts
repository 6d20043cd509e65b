import { describe, expect, it } from "vitest";
import type { VendorRegistry, VendorTemplate } from "../../config.ts";
import { CLIENT, load, MINIMAL, problemsOf, registryOf } from "../testing/config-file.ts";

/** As the registry is: `get` and `has` know aliases, `keys` has ids. */
class Registry extends Map<string, VendorTemplate> {
  override get(name: string): VendorTemplate | undefined {
    return super.get(name === "acme" ? "acme-connect" : name);
  }
  override has(name: string): boolean {
    return super.has(name === "acme" ? "acme-connect" : name);
  }
}
const registry: VendorRegistry = new Registry(
  registryOf({ id: "acme-connect" }, { aliases: ["acme"], setup: "vendor_approval" }),
);
const CREDENTIALS = { credentials: [{ client_id: "ours", client_secret: "a vendor's secret" }] };

describe("another name of a vendor in the file", () => {
  it("means the registry's entry, under vendors and where a client or an owner names it", () => {
    const { vendors, clients, warnings } = load(
      {
        ...MINIMAL,
        owners: [{ id: "globex", approved_vendors: ["acme"], initial_access_token: { acme: "token" } }],
        clients: [{ ...CLIENT, owner: "globex", vendors: ["acme", "custom"] }],
        vendors: { acme: CREDENTIALS },
      },
      { registry },
    );
    expect([...vendors.keys()]).toEqual(["acme-connect"]);
    expect(vendors.get("acme-connect")).toMatchObject({ aliases: ["acme"], credentials: [{ clientId: "ours" }] });
    expect(clients[0]).toMatchObject({ vendors: ["acme-connect", "custom"], approvedVendors: ["acme-connect"] });
    expect([...(clients[0]?.initialAccessTokens?.keys() ?? [])]).toEqual(["acme-connect"]);
    expect(warnings.filter((text) => text.includes("known vendor"))).toEqual([]);
  });

  it("is a vendor of the operator's own where the entry is complete, and then no alias", () => {
    const own = { name: "Our Acme", issuer: "https://acme.internal.example" };
    const { vendors, clients } = load(
      { ...MINIMAL, clients: [{ ...CLIENT, vendors: ["acme"] }], vendors: { acme: own } },
      { registry },
    );
    expect([...vendors.keys()]).toEqual(["acme-connect", "acme"]);
    expect(vendors.get("acme")).toMatchObject({ vendor: { id: "acme", name: "Our Acme" }, setup: "none" });
    expect(vendors.get("acme")?.aliases).toBeUndefined();
    expect(clients[0]?.vendors).toEqual(["acme"]);
  });

  it("is in no variable's name: a warning has the id", () => {
    const env = {
      VENDOR_ACME_CLIENT_ID: "a",
      VENDOR_ACME_CONNECT_CLIENT_ID: "b",
      VENDOR_ACME_CONNECT_CLIENT_SECRET: "c",
    };
    expect(load(MINIMAL, { registry, env }).warnings).toContain(
      "VENDOR_ACME_CLIENT_ID is set, but the id of that vendor is acme-connect",
    );
  });

  it("is refused beside the id it stands for", () => {
    expect(problemsOf({ vendors: { acme: CREDENTIALS, "acme-connect": {} } }, { registry })).toEqual([
      "vendors.acme is another name of acme-connect, which is there as well",
    ]);
  });

  it("is refused by its field where no vendor has it", () => {
    expect(problemsOf({ clients: [{ ...CLIENT, vendors: ["acmee"] }] }, { registry })).toEqual([
      "clients[0].vendors[0] is not a known vendor: did you mean acme?",
    ]);
  });
});
