import { describe, expect, it } from "vitest";
import { CLIENT, load, MINIMAL, OWN_VENDOR } from "../config/testing/config-file.ts";

const CREDENTIALS = { credentials: { client_id: "broker", client_secret: "s" } };
const VENDORS = { v: { ...OWN_VENDOR, ...CREDENTIALS } };
const OWNERS = [{ id: "acme" }, { id: "globex" }];
const client = (client_id: string, fields: object = {}): object => ({ ...CLIENT, client_id, ...fields });
const ofAcme = client("a", { owner: "acme" });
const ofGlobex = client("g", { owner: "globex" });
const limitedTo = (vendors: readonly string[]): object => client("g", { owner: "globex", vendors });
const vendorWith = (fields: object) => ({ v: { ...VENDORS.v, ...fields } });
/** Vendors whose new flows show the owner page; one warning names them all. */
const shared = (fields: object, options?: { env: Record<string, string> }): string[] => {
  const { warnings } = load({ ...MINIMAL, ...fields }, options);
  const warning = warnings.filter((warning) => warning.includes("share these credentials"));
  expect(warning.length).toBeLessThan(2);
  return [...(warning[0]?.split(": ")[0] ?? "").matchAll(/vendors\.(\w+)/g)].map(([, id = ""]) => id);
};

describe("bar#XA-9 credentials of one vendor", () => {
  it.each([
    ["of two owners", [ofAcme, ofGlobex]],
    ["of an owner and without an owner", [ofAcme, client("b")]],
    ["of two owners, one named and one by default", [ofAcme, limitedTo(["v"])]],
  ])("bar#XA-9 are not shared by clients %s", (_, clients) => {
    expect(shared({ owners: OWNERS, vendors: VENDORS, clients })).toEqual(["v"]);
  });

  it("bar#XA-9 are not shared either when they come from the environment", () => {
    const env = { VENDOR_V_CLIENT_ID: "broker", VENDOR_V_CLIENT_SECRET: "s" };
    const fields = { owners: OWNERS, vendors: { v: OWN_VENDOR }, clients: [ofAcme, ofGlobex] };
    expect(shared(fields, { env })).toEqual(["v"]);
    expect(shared(fields)).toEqual([]);
  });

  it("bar#XA-9 are not shared under a second name: the vendor still sees one client", () => {
    const again = { ...VENDORS.v, name: "Again", authorization_endpoint: "https://vendor.example/authorize?x=1" };
    const clients = [client("a", { owner: "acme", vendors: ["v"] }), limitedTo(["w"])];
    const sharedBeside = (w: object) => shared({ owners: OWNERS, vendors: { ...VENDORS, w }, clients });
    expect(sharedBeside(again)).toEqual(["v", "w"]);
    const another = { client_id: "another", client_secret: "s" };
    expect(sharedBeside({ ...again, credentials: [another, CREDENTIALS.credentials] })).toEqual(["v"]);
    expect(sharedBeside({ ...again, credentials: another })).toEqual([]);
  });

  it("are reported at start with the clients concerned and what to do", () => {
    const { warnings } = load({ ...MINIMAL, owners: OWNERS, vendors: VENDORS, clients: [ofAcme, ofGlobex] });
    const [warning] = warnings.filter((warning) => warning.startsWith("vendors.v: "));
    expect(warning).toContain("(clients[0], clients[1])");
    expect(warning).toContain("limit `vendors` of each client");
  });

  it("are reported with the clients that vouch for browsers and cannot use them", () => {
    const vouching = client("p", { owner: "globex", browser_binding: "platform" });
    const elsewhere = client("q", { browser_binding: "platform", vendors: [] });
    const clients = [ofAcme, vouching, elsewhere];
    const { warnings } = load({ ...MINIMAL, owners: OWNERS, vendors: VENDORS, clients });
    const [warning] = warnings.filter((warning) => warning.startsWith("vendors.v: "));
    expect(warning).toContain("clients[1] with browser_binding: platform cannot start flows there");
  });

  it("bar#XA-9 are one registration at a second host, unless their secret is another", () => {
    const at = { authorization_endpoint: "https://again.example/a", token_endpoint: "https://again.example/t" };
    const clients = [client("a", { owner: "acme", vendors: ["v"] }), limitedTo(["w"])];
    const second = (client_secret: string, endpoints: object = at) =>
      shared({
        owners: OWNERS,
        vendors: { ...VENDORS, w: { ...VENDORS.v, ...endpoints, credentials: { client_id: "broker", client_secret } } },
        clients,
      });
    expect(second("s")).toEqual(["v", "w"]);
    expect(second("another")).toEqual([]);
    const { token_endpoint } = VENDORS.v;
    expect(second("another", { ...at, token_endpoint })).toEqual(["v", "w"]);
  });

  it.each([
    ["clients of one owner", VENDORS, [ofAcme, client("b", { owner: "acme" })]],
    ["clients without owner, which are one party", VENDORS, [client("a"), client("b")]],
    ["the one owner whose clients are not limited to others", VENDORS, [ofAcme, limitedTo([])]],
    ["no client, at a vendor that is off", vendorWith({ enabled: false }), [ofAcme, ofGlobex]],
    [
      "no new flow, at a vendor without new flows",
      vendorWith({ accepts_new_authorizations: false }),
      [ofAcme, ofGlobex],
    ],
  ])("serve %s", (_, vendors, clients) => {
    expect(shared({ owners: OWNERS, vendors, clients })).toEqual([]);
  });

  it("bar#XA-9 are compared by vendor: open to all clients, named by one, or approved", () => {
    const one = (id: string, fields: object = {}): object => ({
      [id]: { ...OWN_VENDOR, credentials: { client_id: id, client_secret: "s" }, ...fields },
    });
    const open = { ...one("w"), ...one("y") };
    const all = [one("v", { setup: "vendor_approval" }), open, one("x")];
    const clients = [ofAcme, limitedTo(["x"])];
    for (const order of [all, all.toReversed()]) {
      const vendors = Object.assign({}, ...order) as object;
      expect(shared({ owners: OWNERS, vendors, clients })).toEqual(["x"]);
      const three = [...clients, client("b")];
      const { warnings } = load({ ...MINIMAL, owners: OWNERS, vendors, clients: three });
      const of = (id: string): string | undefined => warnings.find((warning) => warning.startsWith(`vendors.${id}: `));
      expect(of("v")).toBeUndefined();
      for (const id of ["w", "y"]) expect(of(id)).toContain("(clients[0], clients[2])");
      expect(of("x")).toContain("(clients[0], clients[1], clients[2])");
    }
  });

  it("serve the one owner that the vendor has approved", () => {
    const vendors = vendorWith({ setup: "vendor_approval" });
    const clients = [ofAcme, client("b", { approved_vendors: ["v"] })];
    expect(shared({ owners: OWNERS, vendors, clients })).toEqual([]);
    const owners = [{ id: "acme", approved_vendors: ["v"] }];
    expect(shared({ owners, vendors, clients })).toEqual(["v"]);
  });
});
