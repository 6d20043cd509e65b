import { describe, expect, it } from "vitest";
import { withOperatorsFields } from "./operators-vendor.ts";
import { defineVendor, type Vendor } from "./vendor.ts";

const RECIPIENTS = {
  revocationEndpoint: "https://api.known.example/revoke",
  userinfoEndpoint: "https://api.known.example/me",
  account: { endpoint: "https://api.known.example/whoami", method: "GET" },
  introspectionEndpoint: "https://api.known.example/introspect",
  tokenCheck: {
    endpoint: "https://api.known.example/check",
    method: "POST",
    authentication: "basic",
    inactiveStatuses: [404],
    client: ["client_id"],
  },
} as const satisfies Partial<Vendor>;

const KNOWN = defineVendor({
  id: "known",
  name: "Known",
  authorizationEndpoint: "https://www.known.example/authorize",
  tokenEndpoint: "https://www.known.example/token",
  refreshEndpoint: "https://api.known.example/refresh",
  apiHosts: [".known.example", "known-files.example"],
  ...RECIPIENTS,
});
const ELSEWHERE = { tokenEndpoint: "https://gateway.example/token" };

describe("an entry with a token endpoint of the operator's", () => {
  it("bar#BY-4 drops all that would send new tokens to the replaced host", () => {
    const { vendor, dropped } = withOperatorsFields(KNOWN, ELSEWHERE);
    expect(vendor.tokenEndpoint).toBe(ELSEWHERE.tokenEndpoint);
    expect(vendor.apiHosts).toEqual([]);
    expect(JSON.stringify({ ...vendor, authorizationEndpoint: "" })).not.toContain("known.example");
    expect([...dropped].toSorted()).toEqual(["apiHosts", ...Object.keys(RECIPIENTS)].toSorted());
  });

  it.each(["https://eu.known.example/token", "https://{region}.known.example/token"])(
    "keeps what is below the same registrable domain, but refreshes at %s",
    (tokenEndpoint) => {
      const { vendor, dropped } = withOperatorsFields(KNOWN, { tokenEndpoint });
      expect(vendor).toMatchObject(RECIPIENTS);
      expect(vendor).not.toHaveProperty("refreshEndpoint");
      expect(vendor.apiHosts).toEqual([".known.example"]);
      expect(dropped).toEqual(["apiHosts"]);
    },
  );

  it.each(Object.entries({ ...RECIPIENTS, refreshEndpoint: KNOWN.refreshEndpoint }))(
    "uses the operator's own %s, at whichever domain",
    (name, value) => {
      const { account: _account, tokenCheck: _check, ...known } = KNOWN;
      const { vendor, dropped } = withOperatorsFields(known, { ...ELSEWHERE, [name]: value });
      expect(vendor).toHaveProperty(name, value);
      expect(dropped).not.toContain(name);
    },
  );

  it("asks the entry's own account there, at the host the operator names, and its own check of tokens", () => {
    const account = { ...KNOWN.account!, host: { member: "host", below: "known.example" }, identity: ["id"] } as const;
    const endpoint = "https://gateway.example/asked";
    const own = { ...ELSEWHERE, userinfoEndpoint: endpoint, introspectionEndpoint: endpoint };
    const { vendor, dropped } = withOperatorsFields({ ...KNOWN, account }, own);
    expect(vendor.account).toEqual({ endpoint, method: "GET", identity: ["id"] });
    expect(vendor.tokenCheck).toEqual({ ...RECIPIENTS.tokenCheck, endpoint });
    expect(dropped).not.toContain("account");
  });

  it.each<Partial<Vendor>>([
    { tokenEndpoint: "https://www.known.example/token" },
    { authorizationEndpoint: "https://gateway.example/authorize" },
    { name: "Another name" },
  ])("changes nothing else while the token endpoint stays: %j", (own) => {
    expect(withOperatorsFields(KNOWN, own)).toEqual({ vendor: { ...KNOWN, ...own }, dropped: [] });
  });

  it("an entry without one has nothing to be replaced", () => {
    const { tokenEndpoint: _none, ...discovered } = KNOWN;
    expect(withOperatorsFields(discovered, ELSEWHERE)).toEqual({ vendor: { ...KNOWN, ...ELSEWHERE }, dropped: [] });
  });
});
