import { describe, expect, it } from "vitest";
import { defineVendor } from "../../registry/vendor.ts";
import { requireHostOfVendor } from "./endpoint.ts";

const vendor = (entry: Partial<Parameters<typeof defineVendor>[0]>) => defineVendor({ id: "v", name: "V", ...entry });

describe("requireHostOfVendor", () => {
  it.each([
    ["https://auth.vendor.example", "https://auth.vendor.example/register"],
    ["https://mcp.vendor.example/mcp", "https://api.vendor.example/v3/clients"],
    ["https://vendor.co.uk", "https://auth.vendor.co.uk/register"],
    ["https://tenant.github.io", "https://tenant.github.io/register"],
    ["http://127.0.0.1:4001", "http://127.0.0.1:4002/register"],
    ["http://localhost:4001", "http://localhost:4002/register"],
  ])("bar#BY-4 lets a token go from %s to %s", (issuer, endpoint) => {
    expect(() => requireHostOfVendor(vendor({ issuer }), endpoint)).not.toThrow();
  });

  it.each([
    ["https://auth.vendor.example", "https://auth.evil.example/register"],
    ["https://auth.vendor.example", "https://vendor.example.evil.example/register"],
    ["https://auth.vendor.example", "https://evilvendor.example/register"],
    ["https://vendor.co.uk", "https://evil.co.uk/register"],
    ["https://tenant.github.io", "https://evil.github.io/register"],
    ["https://8.8.8.8", "https://8.8.4.4/register"],
    ["http://127.0.0.1:4001", "http://localhost:4001/register"],
  ])("bar#BY-4 lets none go from %s to %s", (issuer, endpoint) => {
    expect(() => requireHostOfVendor(vendor({ issuer }), endpoint)).toThrow(
      expect.objectContaining({
        code: "vendor_response_invalid",
        extras: expect.objectContaining({ reason: "credential_binding_mismatch" }),
      }),
    );
  });

  it("bar#BY-4 trusts the endpoint that stands in the entry, and the domains of the others there", () => {
    const elsewhere = "https://identity.example/register";
    const issuer = "https://auth.vendor.example";
    expect(() => requireHostOfVendor(vendor({ issuer, registrationEndpoint: elsewhere }), elsewhere)).not.toThrow();
    expect(() =>
      requireHostOfVendor(vendor({ issuer, tokenEndpoint: "https://identity.example/t" }), elsewhere),
    ).not.toThrow();
    expect(() => requireHostOfVendor(vendor({ issuer, registrationEndpoint: issuer }), elsewhere)).toThrow(
      "vendor_response_invalid",
    );
  });
});
