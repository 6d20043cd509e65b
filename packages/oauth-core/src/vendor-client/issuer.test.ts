/**
 * The issuer of a response, and issuers with several names: without a scheme, and one per tenant,
 * on the callback and in ID tokens.
 */
import { describe, expect, it } from "vitest";
import { errorMembers, toOAuthError } from "../protocol/errors.ts";
import { labOfEachTest } from "../testing/network/vendor-lab.ts";
import { resolvedVendor as vendor } from "../testing/network/resolved-vendor.ts";
import type { ResolvedVendor } from "../registry/vendor.ts";
import { pinTenant, requireIssuer } from "./issuer.ts";

const REFUSED = { code: "vendor_response_invalid", extras: { reason: "id_token_invalid" } };

const lab = labOfEachTest();

describe("V-70 an issuer with one name per tenant", () => {
  const TENANT = "0b1c2d3e-4f50-4a1b-8c2d-3e4f5a6b7c8d";
  const entry = (): object => ({
    issuer: `${lab.vendor.issuer}/{tenantid}/v2.0`,
    issuerTemplate: { placeholder: "tenantid", claim: "tid", pattern: "[0-9a-f-]{36}" },
    authorizationEndpoint: `${lab.vendor.issuer}/authorize`,
    tokenEndpoint: `${lab.vendor.issuer}/token`,
    jwksUri: `${lab.vendor.issuer}/jwks`,
  });

  it("is the one the token's tid makes of it", async () => {
    const iss = `${lab.vendor.issuer}/${TENANT}/v2.0`;
    await lab.vendor.grant({ claims: { iss, tid: TENANT } });
    await expect(lab.redeem({ entry: entry() })).resolves.toMatchObject({ idToken: { issuer: iss } });
  });

  it.each<[string, Record<string, unknown>]>([
    ["tid is missing", { iss: TENANT }],
    ["tid is another's", { iss: TENANT, tid: "11111111-4f50-4a1b-8c2d-3e4f5a6b7c8d" }],
    ["tid is no tenant", { iss: "x/../y", tid: "x/../y" }],
    ["iss is the template", { iss: "{tenantid}", tid: TENANT }],
  ])("is refused where %s", async (_title, { iss, tid }) => {
    await lab.vendor.grant({ claims: { iss: `${lab.vendor.issuer}/${String(iss)}/v2.0`, tid } });
    await expect(lab.redeem({ entry: entry() })).rejects.toMatchObject(REFUSED);
  });

  it("is that of the tenant named beforehand, and of no other", async () => {
    const pinnedTo = (pinned: string) => ({
      entry: {
        ...entry(),
        issuerTemplate: { placeholder: "tenantid", claim: "tid", pattern: "[0-9a-f-]{36}", pinned },
      },
    });
    await lab.vendor.grant({ claims: { iss: `${lab.vendor.issuer}/${TENANT}/v2.0`, tid: TENANT } });
    await expect(lab.redeem(pinnedTo(TENANT.toUpperCase()))).resolves.toHaveProperty("idToken");
    const another = "11111111-4f50-4a1b-8c2d-3e4f5a6b7c8d";
    await expect(lab.redeem(pinnedTo(another))).rejects.toMatchObject(REFUSED);
    await expect(lab.refresh(pinnedTo(another))).rejects.toMatchObject(REFUSED);
  });
});

describe("rfc9207#2.4 bar#CB-16 an issuer of several names", () => {
  const aliased = vendor({ issuer: "https://v.example", issuerSpelling: "bare" });
  const tenants = vendor({
    issuer: "https://v.example/{tenant}/v2.0",
    issuerTemplate: { placeholder: "tenant", claim: "tid", pattern: "[0-9a-f]{4}", pinnedBy: "directory" },
  });
  const pinned = { ...tenants, ...pinTenant(tenants, { directory: "0a1b" }) };

  it.each<[ResolvedVendor, string]>([
    [aliased, "https://v.example"],
    [aliased, "v.example"],
    [tenants, "https://v.example/0a1b/v2.0"],
    [pinned, "https://v.example/0a1b/v2.0"],
  ])("is known by each of them", (entry, iss) => {
    expect(() => requireIssuer(entry, iss)).not.toThrow();
  });

  it.each<[ResolvedVendor, string]>([
    [aliased, "http://v.example"],
    [aliased, ""],
    [tenants, "https://v.example/0a1b/v2.0/"],
    [tenants, "https://v.example//v2.0"],
    [tenants, "https://v.example/v2.0"],
    [tenants, "https://v.example/0a1b/../0a1b/v2.0"],
    [tenants, "https://v.example/zzzz/v2.0"],
    [tenants, "https://evil.example/0a1b/v2.0"],
    [pinned, "https://v.example/0a1c/v2.0"],
  ])("and by no other", (entry, iss) => {
    expect(() => requireIssuer(entry, iss)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });

  it("is pinned by a placeholder that names a tenant, and by nothing else", () => {
    expect(pinned.issuerTemplate?.pinned).toBe("0a1b");
    expect(pinTenant(tenants, { directory: "everybody" })).toBe(tenants);
    expect(pinTenant(tenants, { another: "0a1b" })).toBe(tenants);
    expect(pinTenant(aliased, { directory: "0a1b" })).toBe(aliased);
  });
});

const ISSUER = "https://vendor.example/tenant";
const authorizationEndpoint = "https://vendor.example/authorize";
const KNOWN = { issuer: ISSUER, issExpected: true, authorizationEndpoint };

describe("requireIssuer", () => {
  it("rfc9207#2.4 accepts exactly the issuer, advertised or not", () => {
    expect(() => requireIssuer(KNOWN, ISSUER)).not.toThrow();
    expect(() => requireIssuer({ ...KNOWN, issExpected: false }, ISSUER)).not.toThrow();
  });

  it("bar#CB-16 V-45 refuses an answer without iss where one is due", () => {
    expect(() => requireIssuer(KNOWN, undefined)).toThrow(
      expect.objectContaining({ code: "invalid_request", extras: { reason: "missing_issuer" } }),
    );
    expect(() => requireIssuer({ ...KNOWN, issExpected: false }, undefined)).not.toThrow();
  });

  it.each([
    ["another", "https://honest.example/tenant"],
    ["empty", ""],
    ["with a slash more", `${ISSUER}/`],
    ["in another case", ISSUER.toUpperCase()],
    ["with the port spelled out", "https://vendor.example:443/tenant"],
    ["with an escape", "https://vendor.example/t%65nant"],
    ["with white space", ` ${ISSUER}`],
  ])("bar#CB-16 V-44 refuses an iss that is %s", (_title, iss) => {
    for (const issExpected of [true, false]) {
      expect(() => requireIssuer({ issuer: ISSUER, issExpected, authorizationEndpoint }, iss)).toThrow(
        expect.objectContaining({ code: "invalid_request", extras: { reason: "issuer_mismatch" } }),
      );
    }
  });

  it("rfc9207#2.4 takes an iss of the authorization endpoint's origin if no issuer is known", () => {
    const unknown = { issExpected: false, authorizationEndpoint };
    for (const iss of [undefined, "https://vendor.example", "https://vendor.example/tenant"]) {
      expect(() => requireIssuer(unknown, iss)).not.toThrow();
    }
    for (const iss of [
      "",
      "vendor.example",
      "https://honest.example",
      "http://vendor.example",
      "https://vendor.example:8443",
    ]) {
      expect(() => requireIssuer(unknown, iss)).toThrow(
        expect.objectContaining({ extras: { reason: "issuer_mismatch" } }),
      );
    }
  });

  it("does not repeat the received value", () => {
    const refused = (): unknown => {
      try {
        return requireIssuer(KNOWN, "https://canary.example");
      } catch (error) {
        return errorMembers(toOAuthError(error));
      }
    };
    expect(refused()).toMatchObject({ error: "invalid_request", reason: "issuer_mismatch" });
    expect(JSON.stringify(refused())).not.toContain("canary");
  });
});
