import { describe, expect, it } from "vitest";
import { requireTokenHost, tokenHosts } from "./hosts.ts";

const moved = expect.objectContaining({
  code: "invalid_grant",
  extras: expect.objectContaining({ reason: "connection_endpoint_changed" }),
});

describe("the hosts that tokens of a grant may be sent to", () => {
  it("are those of the token, refresh and revocation endpoints, each once", () => {
    const endpoints = {
      tokenEndpoint: "https://vendor.example/token",
      revocationEndpoint: "https://api.vendor.example/r",
    };
    expect(tokenHosts(endpoints)).toEqual(["vendor.example", "api.vendor.example"]);
    expect(tokenHosts({ ...endpoints, refreshEndpoint: "https://vendor.example:8443/token" })).toEqual([
      "vendor.example",
      "vendor.example:8443",
      "api.vendor.example",
    ]);
  });

  it("bar#BY-4 are no others: an endpoint that moved ends the grant", () => {
    const hosts = ["vendor.example", "[::1]:8443"];
    for (const endpoint of [
      "https://moved.example/token",
      "https://vendor.example:8443/token",
      "https://sub.vendor.example/token",
      "https://[::1]/token",
    ]) {
      expect(() => requireTokenHost(hosts, endpoint), endpoint).toThrow(moved);
    }
    expect(() => requireTokenHost([], "https://vendor.example/token")).toThrow(moved);
  });

  it("may change their paths", () => {
    for (const endpoint of ["https://vendor.example/v2/token", "https://VENDOR.example:443/token"]) {
      expect(() => requireTokenHost(["vendor.example"], endpoint), endpoint).not.toThrow();
    }
  });
});
