import { defineVendor } from "@oauth-broker/oauth-core/registry";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import {
  CALLBACK,
  openHostedFixture,
  type OpenIdFixture,
  openOpenIdFixture,
  SCOPES,
  SERVER,
} from "../testing/hosted-fixture.ts";
import { vendorIssuerWarning } from "./metadata.ts";

const fixture = shared(openOpenIdFixture);

describe("the metadata", () => {
  const read = async (path: string, from: Pick<OpenIdFixture, "request"> = fixture) =>
    (await from.request(`/.well-known/${path}`)).json();

  it("rfc8414#2 bar#AS-17 is made of DEPLOYMENT_URL; rfc9207#2.4 names a vendor with iss", async () => {
    expect(await read("oauth-authorization-server")).toEqual({
      issuer: SERVER,
      authorization_endpoint: `${SERVER}/authorize`,
      token_endpoint: `${SERVER}/token`,
      revocation_endpoint: `${SERVER}/revoke`,
      registration_endpoint: `${SERVER}/register`,
      scopes_supported: SCOPES,
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint_auth_methods_supported: ["none"],
      code_challenge_methods_supported: ["S256"],
      vendor_issuer: fixture.provider.issuer,
    });
  });

  it("is not served without the vendor's part: a platform that cached it would refuse the vendor", async () => {
    const vendor = defineVendor({ id: "away", name: "Away", issuer: "http://127.0.0.1:9" });
    await using away = openHostedFixture({ vendor });
    const answer = await away.request("/.well-known/oauth-authorization-server");
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    expect((await away.request("/.well-known/oauth-protected-resource")).status).toBe(200);
    expect(await vendorIssuerWarning(away)).toBeUndefined();
  });

  it("causes a warning at start, where it names a vendor", async () => {
    expect(await vendorIssuerWarning(fixture)).toContain("vendor_issuer");
    const { vendor } = fixture.settings.vendor;
    const silent = {
      ...fixture.settings,
      vendor: { ...fixture.settings.vendor, vendor: { ...vendor, issRequired: false } },
    };
    expect(await vendorIssuerWarning({ ...fixture, settings: silent })).toBeUndefined();
  });

  it("rfc9728#2 describes the resource at the root and below its path, without offline_access", async () => {
    await using other = await openOpenIdFixture({ scopes: ["openid", "offline_access"] });
    const expected = {
      resource: `${SERVER}/mcp`,
      authorization_servers: [SERVER],
      scopes_supported: ["openid"],
      bearer_methods_supported: ["header"],
    };
    expect(await read("oauth-protected-resource", other)).toEqual(expected);
    expect(await read("oauth-protected-resource/mcp", other)).toEqual(expected);
  });
});

describe("POST /register", () => {
  const register = async (body: unknown, from: Pick<OpenIdFixture, "request"> = fixture) => {
    const headers = { "content-type": "application/json" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const answer = await from.request("/register", { method: "POST", headers, body: text });
    return { status: answer.status, body: await answer.json() };
  };

  it("rfc7591#3.2.1 bar#AS-11 returns one public client to every caller with that callback", async () => {
    const expected = {
      status: 201,
      body: {
        client_id: "platform",
        redirect_uris: [CALLBACK],
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      },
    };
    expect(await register({ redirect_uris: [CALLBACK] })).toEqual(expected);
    const parameters = {
      client_name: "<b>Mine",
      token_endpoint_auth_method: "client_secret_post",
      application_type: "web",
      client_id: "mine",
      client_secret: "mine",
      grant_types: ["password"],
    };
    expect(await register({ redirect_uris: [CALLBACK], ...parameters })).toEqual(expected);
    expect(await register({ redirect_uris: ["cursor://x/y", CALLBACK], client_name: null })).toEqual(expected);
  });

  it.each([
    ["another redirect URI", { redirect_uris: ["https://evil.example/cb"] }, "invalid_redirect_uri"],
    ["one more redirect URI", { redirect_uris: [CALLBACK, `${CALLBACK}/`] }, "invalid_redirect_uri"],
    ["a script beside it", { redirect_uris: [CALLBACK, "javascript:alert(1)"] }, "invalid_redirect_uri"],
    ["a private scheme alone", { redirect_uris: ["cursor://x/y"] }, "invalid_redirect_uri"],
    ["no redirect_uris", {}, "invalid_redirect_uri"],
    ["null", null, "invalid_client_metadata"],
    ["no JSON", "{", "invalid_client_metadata"],
  ])("rfc7591#3.2.2 bar#AS-11 refuses %s", async (_what, body, error) => {
    expect(await register(body)).toMatchObject({ status: 400, body: { error } });
  });

  it("is missing where it is switched off", async () => {
    const callback = { kind: "platform", redirectUri: CALLBACK, registers: false } as const;
    await using closed = await openOpenIdFixture({ settings: { callback } });
    expect((await register({ redirect_uris: [CALLBACK] }, closed)).status).toBe(404);
    const metadata = await (await closed.request("/.well-known/oauth-authorization-server")).json();
    expect(metadata).not.toHaveProperty("registration_endpoint");
  });
});
