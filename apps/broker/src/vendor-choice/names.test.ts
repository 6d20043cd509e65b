/** Other names of a vendor: each finds its entry, and weakens no check of it. */
import { describe, expect, it } from "vitest";
import type { VendorConfig } from "../config.ts";
import { issueTokens, testBroker, testClient, testVendor } from "../testing/test-broker.ts";
import { aliasesOf, vendorNamed } from "./names.ts";

const VENDOR: VendorConfig = { ...testVendor(), aliases: ["roadrunner", "own"] };
const OWN: VendorConfig = testVendor({ id: "own", name: "Own" });
const VENDORS = new Map([
  ["acme", VENDOR],
  ["own", OWN],
]);
const ALIAS = { vendor: "roadrunner" };
const BYOC = { vendor_client_id: "OURS", vendor_client_secret: "theirs" };

const brokerOf = async (ids: readonly string[] = ["platform"], fields: object = {}) => {
  const clients = ids.map((id) => ({ ...testClient(id), owner: id, ...fields }));
  return testBroker({ config: { vendors: VENDORS, clients }, vendorAnswers: issueTokens });
};

describe("another name of a vendor", () => {
  it("finds its entry, and never stands for an entry that has that id", () => {
    expect(vendorNamed("roadrunner", VENDORS)).toBe(VENDOR);
    expect(vendorNamed("own", VENDORS)).toBe(OWN);
    expect(vendorNamed("coyote", VENDORS)).toBeUndefined();
    expect(vendorNamed("constructor", VENDORS)).toBeUndefined();
    expect([...aliasesOf(VENDORS)]).toEqual([["roadrunner", "acme"]]);
  });

  it("runs a flow, whose connection names the vendor by its id and takes both names", async () => {
    const { connect, refresh } = await brokerOf();
    const { body, connection } = await connect(ALIAS);
    expect(body).toMatchObject({ access_token: "at", connection: expect.any(String) });
    for (const vendor of ["acme", "roadrunner"]) {
      expect((await refresh({ connection, vendor })).response.status).toBe(200);
      expect((await refresh({ vendor })).response.status).toBe(200);
    }
    const error_description = "vendor and connection name different vendors";
    expect((await refresh({ connection, vendor: "own" })).body).toEqual({
      error: "invalid_request",
      error_description,
    });
  });

  it("is the vendor that a client's list allows, and no other", async () => {
    const allowed = await brokerOf(["platform"], { vendors: ["acme"] });
    expect((await allowed.push(ALIAS)).response.status).toBe(201);
    const other = await brokerOf(["platform"], { vendors: ["own"] });
    expect(await other.push(ALIAS)).toMatchObject({ body: { error: "unauthorized_client" } });
    // A list names vendors by id: config/clients has replaced other names.
    const literal = await brokerOf(["platform"], { vendors: ["roadrunner"] });
    expect(await literal.push(ALIAS)).toMatchObject({ body: { error: "unauthorized_client" } });
  });

  it("bar#XA-9 shows the page for the broker's own client id, as the id does", async () => {
    for (const vendor of ["acme", "roadrunner"]) {
      const { push, get, authorizePath } = await brokerOf(["platform", "of globex"]);
      const { body } = await push({ vendor, ...BYOC });
      const { response, location } = await get(authorizePath(body["request_uri"]));
      expect([response.status, location]).toEqual([200, undefined]);
    }
  });

  it("bar#XA-4 refuses the broker's own client id at an endpoint of the caller's, as the id does", async () => {
    for (const vendor of ["acme", "roadrunner"]) {
      const { push, seen } = await brokerOf();
      const answer = await push({ vendor, token_endpoint: "https://evil.example/token", ...BYOC });
      expect(answer).toMatchObject({ body: { error: "unauthorized_client", reason: "override_not_allowed" } });
      expect(seen).toEqual([]);
    }
  });

  it("has the same context and callback as the id", async () => {
    const { post } = await brokerOf();
    const explain = async (vendor: string) => (await post("/v1/explain", { vendor })).body;
    expect(await explain("roadrunner")).toEqual(await explain("acme"));
  });

  it("is shown in the list and finds the details", async () => {
    const { app } = await brokerOf();
    const read = async (path: string) => (await app.request(path)).json() as Promise<Record<string, unknown>>;
    const { vendors } = (await read("/v1/vendors")) as { vendors: { id: string; aliases?: string[] }[] };
    expect(vendors.map(({ id, aliases }) => [id, aliases])).toEqual([
      ["acme", ["roadrunner", "own"]],
      ["own", undefined],
    ]);
    expect(await read("/v1/vendors/roadrunner")).toMatchObject({ id: "acme", name: "Acme" });
    expect(await read("/v1/vendors/own")).toMatchObject({ id: "own" });
  });
});

describe("a search", () => {
  const search = async (q: string) => {
    const { app } = await brokerOf();
    const response = await app.request(`/v1/vendors?${new URLSearchParams({ q }).toString()}`);
    return { status: response.status, body: (await response.json()) as { vendors: { id: string }[] } };
  };

  it("finds vendors by a part of a name, an id or an alias", async () => {
    for (const [q, ids] of [
      ["ACM", ["acme"]],
      ["road runner", ["acme"]],
      // An alias of the one, and the id of the other.
      ["own", ["acme", "own"]],
    ] as const) {
      const { status, body } = await search(q);
      expect([status, body.vendors.map(({ id }) => id)], q).toEqual([200, ids]);
      expect(body).not.toHaveProperty("did_you_mean");
    }
  });

  it("names the nearest where it finds none, and repeats nothing of the query", async () => {
    expect((await search("acmee")).body).toEqual({ vendors: [], did_you_mean: "acme" });
    expect((await search("<script>alert")).body).toEqual({ vendors: [] });
    expect((await search("x".repeat(64))).body).toEqual({ vendors: [] });
    const refused = { error: "invalid_request", error_description: "q has more than 64 characters" };
    expect(await search("x".repeat(65))).toEqual({ status: 400, body: refused });
  });

  it("is the whole list without a word", async () => {
    expect((await search("")).body.vendors).toHaveLength(2);
  });

  it("stands behind every error about a name that no vendor has", async () => {
    const { push, app } = await brokerOf();
    const said = async (vendor: string): Promise<unknown> => (await push({ vendor })).body["error_description"];
    expect(await said("roadruner")).toBe("vendor is not known here, did you mean roadrunner: see /v1/vendors");
    expect(await said("nothing-like-it")).toBe("vendor is not known here: see /v1/vendors");
    const answer = await app.request("/v1/vendors/acm");
    const error_description = "There is no such vendor, did you mean acme: see /v1/vendors";
    expect([answer.status, await answer.json()]).toMatchObject([404, { error_description }]);
  });

  it("suggests no vendor that is off", async () => {
    const { push } = await testBroker({ vendor: { enabled: false } });
    for (const vendor of ["acme", "acmee"]) {
      expect((await push({ vendor })).body["error_description"]).toBe("vendor is not known here: see /v1/vendors");
    }
  });
});
