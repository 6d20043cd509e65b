/**
 * How the operator's fields change a registry vendor: where refresh and revocation go, and where
 * clients register.
 */
import type { Vendor } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import { load, MINIMAL, problemsOf, registryOf } from "../testing/config-file.ts";

const KNOWN = {
  authorizationEndpoint: "https://www.known.example/authorize",
  tokenEndpoint: "https://www.known.example/token",
  refreshEndpoint: "https://api.known.example/refresh",
  revocationEndpoint: "https://api.known.example/revoke",
};

function moved(fields: object, known: Partial<Vendor> = KNOWN) {
  const registry = registryOf({ id: "known", ...known });
  const { vendors, warnings } = load({ ...MINIMAL, vendors: { known: fields } }, { registry });
  const { vendor, registersNoClients } = vendors.get("known") ?? {};
  return { vendor, registersNoClients, warnings };
}
const WARNING = expect.stringContaining("no revocation_endpoint");

describe("bar#BY-4 a registry vendor with a token endpoint of the operator's", () => {
  it("refreshes there, and revokes nowhere it has left", () => {
    const { vendor, warnings } = moved({ token_endpoint: "https://gateway.example/token" });
    expect(vendor?.tokenEndpoint).toBe("https://gateway.example/token");
    expect(vendor).not.toHaveProperty("refreshEndpoint");
    expect(vendor).not.toHaveProperty("revocationEndpoint");
    expect(warnings).toEqual([WARNING]);
  });

  it("keeps what the operator says beside it", () => {
    const [refreshEndpoint, revocationEndpoint] = ["https://gateway.example/r", "https://elsewhere.example/revoke"];
    const own = { refresh_endpoint: refreshEndpoint, revocation_endpoint: revocationEndpoint };
    const { vendor, warnings } = moved({ token_endpoint: "https://gateway.example/token", ...own });
    expect(vendor).toMatchObject({ refreshEndpoint, revocationEndpoint });
    expect(warnings).toEqual([]);
  });

  it.each([
    { token_endpoint: KNOWN.tokenEndpoint },
    { authorization_endpoint: "https://gateway.example/authorize" },
    {},
  ])("changes nothing while the token endpoint stays: %j", (fields) => {
    const { vendor, warnings } = moved(fields);
    const { refreshEndpoint, revocationEndpoint } = KNOWN;
    expect(vendor).toMatchObject({ refreshEndpoint, revocationEndpoint });
    expect(warnings).toEqual([]);
  });
});

describe("a registry vendor with its own account and check of tokens", () => {
  const ACCOUNT = { endpoint: "https://api.known.example/whoami/{access_token}", method: "GET" } as const;
  const CHECK = {
    endpoint: "https://api.known.example/check",
    method: "POST",
    authentication: "basic",
    inactiveStatuses: [404],
    client: ["client_id"],
  } as const;
  const OWN: Partial<Vendor> = { ...KNOWN, account: { ...ACCOUNT, token: { in: "path" } }, tokenCheck: CHECK };

  it.each([
    ["userinfo_endpoint", "account", "https://gateway.example/me/{access_token}"],
    ["introspection_endpoint", "tokenCheck", "https://gateway.example/check/{client_id}"],
  ] as const)("is asked at the operator's %s in its own way", (written, own, endpoint) => {
    const { vendor } = moved({ [written]: endpoint }, OWN);
    expect(vendor).toEqual({ ...moved({}, OWN).vendor, [own]: { ...OWN[own], endpoint } });
  });

  it("is refused at an address without the place of its token", () => {
    const known = { userinfo_endpoint: "https://gateway.example/me" };
    const problems = problemsOf({ vendors: { known } }, { registry: registryOf({ id: "known", ...OWN }) });
    expect(problems).toEqual([expect.stringContaining("known.userinfo_endpoint is without {access_token}")]);
  });

  it.each([
    [["id"], "own"],
    [undefined, undefined],
  ] as const)("names the account of a connection by the entry's members %j", (identity, expected) => {
    const account = { endpoint: "https://api.known.example/me", method: "GET", ...(identity && { identity }) } as const;
    const registry = registryOf({ id: "known", ...KNOWN, account });
    const known = { userinfo_endpoint: "https://gateway.example/me" };
    expect(load({ ...MINIMAL, vendors: { known } }, { registry }).vendors.get("known")?.accountBy).toBe(expected);
  });
});

describe("registration at a registry vendor", () => {
  const registersNoClients = (fields: object, known: Partial<Vendor> = {}): boolean | undefined =>
    moved(fields, { ...KNOWN, issuer: "https://www.known.example", ...known }).registersNoClients;

  it("is known to be unsupported when neither the entry nor the file has an endpoint for it", () => {
    expect(registersNoClients({})).toBe(true);
    expect(registersNoClients({ issuer: "https://www.known.example" })).toBe(true);
    expect(registersNoClients({}, { registrationEndpoint: "https://www.known.example/register" })).toBeUndefined();
    expect(registersNoClients({ registration_endpoint: "https://www.known.example/register" })).toBeUndefined();
    expect(registersNoClients({ issuer: "https://another.example" })).toBeUndefined();
  });

  it("is not known of a vendor of the operator's own", () => {
    const own = { name: "Own", issuer: "https://own.example" };
    expect(load({ ...MINIMAL, vendors: { own } }).vendors.get("own")).not.toHaveProperty("registersNoClients");
  });
});

describe("a registry vendor whose endpoints are compared with live metadata", () => {
  const SERVER = { ...KNOWN, issuer: "https://www.known.example", serverUrl: "https://mcp.known.example/mcp" };

  it.each([
    { issuer: "https://gateway.example" },
    { authorization_endpoint: "https://www.known.example/other" },
    { token_endpoint: "https://www.known.example/other" },
    { refresh_endpoint: "https://www.known.example/other" },
  ])("is compared no more where the operator writes %j", (fields) => {
    const { vendor } = moved(fields, SERVER);
    expect(vendor).not.toHaveProperty("serverUrl");
    expect(vendor?.authorizationEndpoint).toBe(fields.authorization_endpoint ?? KNOWN.authorizationEndpoint);
  });

  it("is compared beside any other endpoint of the operator's, which is not", () => {
    const { vendor, warnings } = moved({ userinfo_endpoint: "https://www.known.example/me" }, SERVER);
    expect(vendor).toMatchObject({ serverUrl: SERVER.serverUrl, operatorsEndpoints: ["userinfoEndpoint"] });
    expect(warnings).toEqual([]);
    expect(moved({ default_scopes: ["a"] }, SERVER).vendor).not.toHaveProperty("operatorsEndpoints");
  });
});
