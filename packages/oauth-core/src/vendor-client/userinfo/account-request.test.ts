/** The request for an entry's own account: one place for the token, and a host that is the vendor's. */
import { describe, expect, it } from "vitest";
import type { AccountEndpoint } from "../../registry/account.ts";
import { accountRequest } from "./account-request.ts";

const account = (changes: Partial<AccountEndpoint> = {}): AccountEndpoint => ({
  endpoint: "https://api.vendor.example/me?fields=id",
  method: "GET",
  ...changes,
});
const TOKEN = "a/token";

describe("the access token", () => {
  it("rfc6750#2 is in the path alone", () => {
    const endpoint = "https://api.vendor.example/tokens/{access_token}";
    const { url, headers, body } = accountRequest(account({ endpoint, token: { in: "path" } }), TOKEN);
    expect(url).toBe("https://api.vendor.example/tokens/a%2Ftoken");
    expect([headers["authorization"], body]).toEqual([undefined, undefined]);
  });

  it("rfc6750#2 is in the form alone, beside what else the vendor wants there", () => {
    const form = { client_id: "c 1" };
    const sent = accountRequest(account({ method: "POST", form, token: { in: "form", name: "access_token" } }), TOKEN);
    expect(sent).toMatchObject({ url: account().endpoint, body: "client_id=c+1&access_token=a%2Ftoken" });
    expect(sent.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(sent.headers["authorization"]).toBeUndefined();
  });

  it("rfc6750#2 is in the header beside a form without it", () => {
    const { headers, body } = accountRequest(account({ method: "POST", form: { key: "k" } }), TOKEN);
    expect([headers["authorization"], body]).toEqual([`Bearer ${TOKEN}`, "key=k"]);
  });
});

describe("a host that the token response names", () => {
  const host = { member: "api.host", below: "vendor.example" };
  const at = (named: unknown): string =>
    accountRequest(account({ host }), TOKEN, { api: { host: named as string } }).url;

  it.each([
    ["eu.vendor.example", "https://eu.vendor.example/me?fields=id"],
    ["https://eu.vendor.example/", "https://eu.vendor.example/me?fields=id"],
  ])("takes the place of the endpoint's: %s", (named, url) => {
    expect(at(named)).toBe(url);
  });

  it.each([
    "evil.example",
    "evilvendor.example",
    "vendor.example.evil.example",
    "eu.vendor.example:8443",
    "http://eu.vendor.example",
    "evil.example/.vendor.example",
    "evil.example#.vendor.example",
    "",
    7,
    null,
  ])("receives no token if it is not below the vendor's domain: %s (attack)", (named) => {
    expect(() => at(named)).toThrow(expect.objectContaining({ code: "vendor_response_invalid" }));
  });

  it("receives it if the entry's domain is the attacker's (twin)", () => {
    const own = account({ host: { ...host, below: "example" } });
    expect(accountRequest(own, TOKEN, { api: { host: "evil.example" } }).url).toContain("https://evil.example/");
  });
});
