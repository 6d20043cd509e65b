/** What names a user, and how tokens are revoked, at a vendor that does neither as the standard has it. */
import { describe, expect, it } from "vitest";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { load, MINIMAL, ownVendor, problemsOfOwnVendor } from "../testing/config-file.ts";

const ENDPOINT = "https://vendor.example/api/me";
const WITHOUT_PLACE = "is without {access_token}, where the token is to stand";
const REVOCATION = "https://vendor.example/revoke";

describe("a vendor's account in the file", () => {
  it("is that of the registry's entries, in snake_case", () => {
    const account = {
      endpoint: ENDPOINT,
      method: "POST",
      body: { query: "{ me { id } }" },
      token: { in: "header", scheme: "OAuth" },
      member: "data.0",
      refusal: { member: "error.code", values: ["NOT_SIGNED_IN"] },
      identity: ["team.id", "id"],
    };
    const identity = { from: "token_response", members: ["user_id"] };
    const inFile = { ...account, headers: { "User-Agent": "acme/1.0" }, scope_header: "x-oauth-scopes" };
    const entry = ownVendor({ account: inFile, identity });
    expect(entry?.vendor).toMatchObject({
      account: { ...account, headers: { "user-agent": "acme/1.0" }, scopeHeader: "x-oauth-scopes" },
      identity,
    });
    expect(entry).toMatchObject({ accountBy: "own" });
  });

  it("may have the token in its path, as the broker fills it", () => {
    const account = { endpoint: `${ENDPOINT}/{access_token}`, token: { in: "path" } };
    expect(ownVendor({ account })?.vendor.account).toMatchObject(account);
  });

  it("is asked with GET, and names no account without its identity", () => {
    const entry = ownVendor({ account: { endpoint: ENDPOINT } });
    expect(entry?.vendor.account).toEqual({ endpoint: ENDPOINT, method: "GET" });
    expect(entry?.accountBy).toBeUndefined();
    expect(ownVendor({ identity: "unknown" })?.vendor.identity).toBe("unknown");
  });

  it("replaces the identity of a registry vendor's tokens, at the operator's address", () => {
    const endpoint = "https://notion.internal.example:8443/me";
    const account = { endpoint, identity: ["id"] };
    const { vendors, egress } = load({ ...MINIMAL, vendors: { notion: { account } } }, { registry: REGISTRY });
    const { vendor } = vendors.get("notion") ?? {};
    expect([vendor?.account?.endpoint, vendor?.identity]).toEqual([endpoint, undefined]);
    expect(egress.operatorUrls).toContain(endpoint);
  });

  it.each<[object, string]>([
    [{ account: {} }, "….account.endpoint is missing"],
    [{ account: { endpoint: "http://vendor.example/me" } }, "….account.endpoint must use https"],
    [{ account: { endpoint: ENDPOINT, path: "data" } }, "….account.path is not a known field"],
    [{ account: { endpoint: ENDPOINT, method: "PUT" } }, '….account.method must be one of "GET", "POST"'],
    [{ account: { endpoint: ENDPOINT, identity: [] } }, "….account.identity must have at least one entry"],
    [
      { account: { endpoint: ENDPOINT, identity: ["a..b"] } },
      "….account.identity[0] must be the name of a member, or names with dots between them",
    ],
    [{ account: { endpoint: ENDPOINT, token: { in: "query" } } }, "….account.token needs the name of the parameter"],
    [{ account: { endpoint: ENDPOINT, token: { in: "path" } } }, `….account ${WITHOUT_PLACE}`],
    [
      { account: { endpoint: `${ENDPOINT}/{access_token}` } },
      "….account.endpoint uses {access_token}, which is not declared under placeholders",
    ],
    [
      { account: { endpoint: ENDPOINT, token: { in: "query", name: "t", scheme: "OAuth" } } },
      "….account.token has a scheme, which only a header has",
    ],
    [
      { account: { endpoint: ENDPOINT, headers: { authorization: "x" } } },
      "….account.headers.authorization is a header only the broker sets",
    ],
    [
      { account: { endpoint: "https://{tenant}.vendor.example/me" } },
      "….account.endpoint uses {tenant}, which is not declared under placeholders",
    ],
    [
      { account: { endpoint: ENDPOINT }, userinfo_endpoint: ENDPOINT },
      "….account is beside userinfo_endpoint, which says the same in another way",
    ],
    [
      { identity: { from: "somewhere", members: ["id"] } },
      '….identity.from must be one of "id_token", "token_response"',
    ],
    [{ identity: { from: "id_token" } }, "….identity.members is missing"],
    [{ identity: "known" }, '….identity must be one of "unknown"'],
  ])("%j is a problem at its own path", (fields, problem) => {
    expect(problemsOfOwnVendor(fields)).toEqual([problem]);
  });
});

describe("a vendor's revocation in the file", () => {
  it("is that of the registry's entries, with the standard's values for what is left out", () => {
    const revocation = { authentication: "basic", body: "json" };
    expect(ownVendor({ revocation_endpoint: REVOCATION, revocation })?.vendor.revocation).toEqual({
      ...revocation,
      method: "POST",
      tokenParameter: "token",
      ends: "token",
      goneStatuses: [],
    });
    const own = { ...revocation, method: "DELETE", ends: "grant" };
    const inFile = { token_parameter: "access_token", gone_statuses: [404], gone_errors: ["token_revoked"] };
    const stated = ownVendor({ revocation_endpoint: REVOCATION, revocation: { ...own, ...inFile } });
    const read = { tokenParameter: "access_token", goneStatuses: [404], goneErrors: ["token_revoked"] };
    expect(stated?.vendor.revocation).toMatchObject({ ...own, ...read });
  });

  it.each<[object, string]>([
    [{ revocation: { body: "json" } }, "….revocation.authentication is missing"],
    [
      { revocation: { authentication: "none", body: "xml" } },
      '….revocation.body must be one of "form", "json", "query", "none"',
    ],
    [
      { revocation: { authentication: "none", body: "form", gone_statuses: [99] } },
      "….revocation.gone_statuses[0] must be at least 200",
    ],
    [{ revocation: { authentication: "none", body: "form" } }, "….revocation is without a revocation_endpoint"],
  ])("%j is a problem at its own path", (fields, problem) => {
    expect(problemsOfOwnVendor(fields)).toEqual([problem]);
  });
});
