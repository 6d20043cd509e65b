import { describe, expect, it } from "vitest";
import { defineVendor } from "../registry/vendor.ts";
import { expandVendor, templatesOf } from "./templates.ts";

const SPECS = { host: { kind: "host" } } as const;
const REVOCATION = "https://{host}/apps/{client_id}/token";
const vendor = defineVendor({
  id: "acme",
  name: "Acme",
  authorizationEndpoint: "https://{host}/authorize",
  tokenEndpoint: "https://{host}/token",
  revocationEndpoint: REVOCATION,
});

describe("expandVendor", () => {
  it("fills a tenant's host beside our client id, which stays until the request is made", () => {
    const { tokenEndpoint, revocationEndpoint } = expandVendor(vendor, { host: "git.acme.example" }, SPECS);
    expect(tokenEndpoint).toBe("https://git.acme.example/token");
    expect(revocationEndpoint).toBe("https://git.acme.example/apps/{client_id}/token");
  });

  it("fills a tenant's host in the account too, and leaves the rest of it", () => {
    const account = { endpoint: "https://{host}/api/me", method: "GET", member: "data.0" } as const;
    const entry = { ...vendor, account };
    expect(templatesOf(entry, SPECS)).toContain(account.endpoint);
    expect(expandVendor(entry, { host: "git.acme.example" }, SPECS).account).toEqual({
      ...account,
      endpoint: "https://git.acme.example/api/me",
    });
  });

  it("takes no value of a caller for our client id", () => {
    const values = { host: "git.acme.example", client_id: "another" };
    expect(expandVendor(vendor, values, SPECS).revocationEndpoint).toContain("/apps/{client_id}/token");
    expect(templatesOf(vendor, SPECS).join(" ")).not.toContain("{client_id}");
  });

  it("leaves an address alone that has our client id only, or a name that is no placeholder", () => {
    const { host: _, ...rest } = SPECS;
    const tenantless = {
      ...vendor,
      authorizationEndpoint: "https://a.example/a",
      tokenEndpoint: "https://a.example/t",
    };
    for (const revocationEndpoint of ["https://a.example/{client_id}", "https://a.example/{tenantid}/{client_id}"]) {
      const entry = { ...tenantless, revocationEndpoint };
      expect(expandVendor(entry, {}, rest)).toBe(entry);
    }
  });
});

describe("placeholders in fixed parameters", () => {
  const NAMES = { a: {}, b: {}, c: {} };
  const fixed = (value: string, values: Record<string, string>) => {
    const entry = defineVendor({ id: "acme", name: "Acme", authorizationParams: { page: value } });
    return () => expandVendor(entry, values, NAMES).authorizationParams["page"];
  };

  it("are filled once: a value that looks like a placeholder stays as it is", () => {
    expect(fixed('{"a":"{a}","x":"{b}"}', { a: "{b}", b: "{a}", c: "x" })()).toBe('{"a":"{b}","x":"{a}"}');
  });

  it("give a text no longer than a URL may be", () => {
    const values = { a: "{b}".repeat(100), b: "x".repeat(1000), c: "x" };
    expect(fixed("{a}{b}", values)()).toHaveLength(1300);
    expect(fixed("{b}{b}{b}", values)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });
});
