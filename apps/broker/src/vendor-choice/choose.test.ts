/** Which choices are made once and kept, and when a kept one is not used. */
import { describe, expect, it } from "vitest";
import { choose, testBroker } from "../testing/test-broker.ts";

describe("a choice of a plain entry", () => {
  it("is made once for a client", async () => {
    const broker = await testBroker();
    const first = await choose(broker, "platform");
    expect(await choose(broker, "platform")).toBe(first);
  });

  it("bar#XA-5 is another one for another client", async () => {
    const broker = await testBroker();
    const [platform, other] = [await choose(broker, "platform"), await choose(broker, "other")];
    expect(other.contextHash).not.toBe(platform.contextHash);
    expect((await choose(broker, "platform")).contextHash).toBe(platform.contextHash);
  });

  it("is another one at another broker with the same configuration objects", async () => {
    const one = await testBroker();
    const client = (await one.deps.clients.find("platform")) ?? expect.fail("no client");
    const config = { baseUrl: "https://two.example", vendors: one.deps.vendors, clients: [client] };
    const two = await testBroker({ config });
    expect((await choose(one, "platform")).redirectUri).toContain(one.deps.issuer);
    expect((await choose(two, "platform")).redirectUri).toBe("https://two.example/v1/callback");
  });

  it("bar#XA-5 is made again when the vendor's metadata has changed", async () => {
    const broker = await testBroker();
    const { resolve } = broker.deps.vendorClient;
    const first = await choose(broker, "platform");
    const moved: typeof resolve = async (vendor) => ({
      ...(await resolve(vendor)),
      tokenEndpoint: "https://acme.example/2",
    });
    Object.assign(broker.deps.vendorClient, { resolve: moved });
    const second = await choose(broker, "platform");
    expect(second.vendor.tokenEndpoint).toBe("https://acme.example/2");
    expect(second.contextHash).not.toBe(first.contextHash);
  });

  it.each([
    ["credentials of the client's own", "vendor=acme&vendor_client_id=mine&vendor_client_secret=s"],
    ["an endpoint beside it", "vendor=acme&vendor_client_id=mine&authorization_endpoint=https://acme.example/other"],
  ])("is not used for a request with %s", async (_what, form) => {
    const broker = await testBroker();
    const kept = await choose(broker, "platform");
    const own = await choose(broker, "platform", form);
    expect(own).not.toBe(kept);
    expect(own.contextHash).not.toBe(kept.contextHash);
    expect(await choose(broker, "platform", form)).not.toBe(own);
  });

  it("is not used for an endpoint that the broker's own credentials may not go to", async () => {
    const broker = await testBroker();
    await choose(broker, "platform");
    const form = "vendor=acme&authorization_endpoint=https://acme.example/other";
    await expect(choose(broker, "platform", form)).rejects.toMatchObject({ code: "unauthorized_client" });
  });

  it("bar#BY-5 is not used once the client may not use the vendor", async () => {
    const broker = await testBroker();
    await choose(broker, "platform");
    const config = (await broker.deps.clients.find("platform")) ?? expect.fail("no client");
    Object.assign(config, { vendors: ["another"] });
    await expect(choose(broker, "platform")).rejects.toMatchObject({ code: "unauthorized_client" });
  });
});
