import { describe, expect, it } from "vitest";
import type { ResolvedVendor } from "../registry/vendor.ts";
import { resolvedVendor } from "../testing/network/resolved-vendor.ts";
import { flowContextHash, type FlowContext, keptOf, requireTokenHost } from "./kept.ts";

const VENDOR = resolvedVendor({ issuer: "https://v.example", jwksUri: "https://v.example/k", issExpected: true });
const INPUT: FlowContext = {
  vendor: VENDOR,
  clientId: "client",
  credentialsId: "1",
  platformClientId: "platform",
  redirectUri: "https://broker.example/v1/callback",
};
const hash = (changes: Partial<FlowContext> = {}, vendor: Partial<ResolvedVendor> = {}): string =>
  flowContextHash({ ...INPUT, ...changes, vendor: { ...VENDOR, ...vendor } });

describe("flowContextHash", () => {
  it("is the same for the same flow, 43 characters", () => {
    expect(hash()).toBe(hash());
    expect(hash()).toMatch(/^[\w-]{43}$/);
  });

  it.each<[string, string]>([
    ["client", hash({ clientId: "other" })],
    ["credentials", hash({ credentialsId: "2" })],
    ["platform client", hash({ platformClientId: "other" })],
    ["redirect URI", hash({ redirectUri: "https://broker.example/v1/callback/x" })],
    ["placeholder", hash({ placeholders: { tenant: "blue" } })],
    ["vendor", hash({}, { id: "other" })],
    ["issuer", hash({}, { issuer: "https://w.example" })],
    ["authorization endpoint", hash({}, { authorizationEndpoint: "https://w.example/a" })],
    ["token endpoint", hash({}, { tokenEndpoint: "https://w.example/t" })],
    ["refresh endpoint", hash({}, { refreshEndpoint: "https://w.example/r" })],
    ["revocation endpoint", hash({}, { revocationEndpoint: "https://w.example/r" })],
    ["key set", hash({}, { jwksUri: "https://w.example/k" })],
    ["PKCE method", hash({}, { pkce: "none" })],
  ])("bar#XA-5 bar#DI-3 differs for another %s", (_field, other) => {
    expect(other).not.toBe(hash());
  });

  it("is the same for the same placeholders in any order, and without any as in earlier releases", () => {
    expect(hash({ placeholders: {} })).toBe(hash());
    expect(hash({ placeholders: { a: "1", b: "2" } })).toBe(hash({ placeholders: { b: "2", a: "1" } }));
    expect(hash({ placeholders: { a: "1", b: "2" } })).not.toBe(hash({ placeholders: { a: "2", b: "1" } }));
  });

  it("bar#XA-5 cannot be made equal by moving text from one field to the next", () => {
    expect(hash({ clientId: "client1", credentialsId: "" })).not.toBe(hash({ clientId: "client", credentialsId: "1" }));
    expect(hash({}, { refreshEndpoint: "" })).not.toBe(hash());
    expect(hash({}, { refreshEndpoint: "x" })).not.toBe(hash({}, { revocationEndpoint: "x" }));
  });
});

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
    expect(keptOf(endpoints).hosts).toEqual(["vendor.example", "api.vendor.example"]);
    expect(keptOf({ ...endpoints, refreshEndpoint: "https://vendor.example:8443/token" }).hosts).toEqual([
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
