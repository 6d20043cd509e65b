import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type OpenIdBench, openOpenIdBench } from "../testing/hosted-bench.ts";
import { endLink, linkKey } from "./vendor-links/link.ts";

let bench: OpenIdBench;
beforeEach(async () => {
  bench = await openOpenIdBench();
});
afterEach(() => bench.close());

const told = (): number => bench.provider.requests().filter(({ path }) => path === "/token/revocation").length;
const link = () => bench.tokens.get(linkKey("user", bench));

describe("POST /revoke", () => {
  it("rfc7009#2.2 answers 200 for what it does not know, and nothing ends", async () => {
    const { body } = await bench.connect();
    expect((await bench.revoke("no-token-of-ours")).status).toBe(200);
    expect(await bench.gate.identify(body["access_token"] ?? "")).toBeDefined();
  });

  it("bar#AS-21 asks who it is first", async () => {
    const { body } = await bench.connect();
    const init = {
      method: "POST",
      body: new URLSearchParams({ token: body["access_token"] ?? "", client_id: "another" }),
    };
    expect((await bench.request("/revoke", init)).status).toBe(401);
    expect(await bench.gate.identify(body["access_token"] ?? "")).toBeDefined();
  });

  it("bar#RV-1 rfc7009#2.1 ends the session, and with the user's last one the link, here and at the vendor", async () => {
    const [one, two] = [(await bench.connect()).body, (await bench.connect()).body];
    expect((await bench.revoke(one["refresh_token"] ?? "")).status).toBe(200);
    expect(await bench.gate.identify(one["access_token"] ?? "")).toBeUndefined();
    expect(await bench.gate.identify(two["access_token"] ?? "")).toBeDefined();
    expect([told(), (await link())?.status]).toEqual([0, "active"]);
    expect((await bench.revoke(two["access_token"] ?? "")).status).toBe(200);
    expect([told(), await link()]).toEqual([1, undefined]);
    expect((await bench.refresh(two["refresh_token"] ?? "")).body["error"]).toBe("invalid_grant");
  });

  it("can be repeated where the link could not be ended", async () => {
    const { body } = await bench.connect();
    bench.down.add("tokens");
    expect((await bench.revoke(body["refresh_token"] ?? "")).status).toBe(503);
    bench.down.clear();
    expect(await bench.gate.identify(body["access_token"] ?? "")).toBeUndefined();
    expect((await bench.revoke(body["refresh_token"] ?? "")).status).toBe(200);
    expect([told(), await link()]).toEqual([1, undefined]);
  });

  it("does without the vendor", async () => {
    const { body } = await bench.connect();
    bench.provider.faults.next("/token/revocation", { kind: "drop" });
    expect((await bench.revoke(body["refresh_token"] ?? "")).status).toBe(200);
    expect(await link()).toBeUndefined();
  });
});

describe("endLink", () => {
  it("says what the vendor made of it", async () => {
    expect(await endLink("nobody", bench)).toEqual({});
    await bench.connect();
    expect(await endLink("user", bench)).toEqual({ vendor: "token" });
    await bench.connect();
    bench.provider.faults.next("/token/revocation", { kind: "drop" });
    expect(await endLink("user", bench)).toEqual({ vendor: "failed" });
  });

  it("leaves a link that began while the vendor was told", async () => {
    await bench.connect();
    const { vendorClient } = bench;
    const meanwhile: typeof vendorClient = {
      ...vendorClient,
      revokeToken: async () => {
        await bench.connect();
        return "token";
      },
    };
    await endLink("user", { ...bench, vendorClient: meanwhile });
    expect((await link())?.status).toBe("active");
  });
});
