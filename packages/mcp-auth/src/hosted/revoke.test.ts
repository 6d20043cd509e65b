import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CALLBACK, type OpenIdBench, openOpenIdBench, SCOPES, SERVER } from "../testing/hosted-bench.ts";
import { endLink, linkKey } from "./vendor-link.ts";

let bench: OpenIdBench;
beforeEach(async () => {
  bench = await openOpenIdBench();
});
afterEach(() => bench.close());

const told = (): number => bench.provider.requests().filter(({ path }) => path === "/token/revocation").length;
const link = () => bench.tokens.get(linkKey("user", bench));

describe("POST /revoke", () => {
  it("rfc7009#2.2 answers 200 for what it does not know, and nothing ends", async () => {
    const { body } = await bench.connect();
    expect((await bench.revoke("no-token-of-ours")).status).toBe(200);
    expect(await bench.gate.identify(body["access_token"] ?? "")).toBeDefined();
  });

  it("bar#AS-21 asks who it is first", async () => {
    const { body } = await bench.connect();
    const init = {
      method: "POST",
      body: new URLSearchParams({ token: body["access_token"] ?? "", client_id: "another" }),
    };
    expect((await bench.request("/revoke", init)).status).toBe(401);
    expect(await bench.gate.identify(body["access_token"] ?? "")).toBeDefined();
  });

  it("bar#RV-1 rfc7009#2.1 ends the session, and with the user's last one the link, here and at the vendor", async () => {
    const [one, two] = [(await bench.connect()).body, (await bench.connect()).body];
    expect((await bench.revoke(one["refresh_token"] ?? "")).status).toBe(200);
    expect(await bench.gate.identify(one["access_token"] ?? "")).toBeUndefined();
    expect(await bench.gate.identify(two["access_token"] ?? "")).toBeDefined();
    expect([told(), (await link())?.status]).toEqual([0, "active"]);
    expect((await bench.revoke(two["access_token"] ?? "")).status).toBe(200);
    expect([told(), await link()]).toEqual([1, undefined]);
    expect((await bench.refresh(two["refresh_token"] ?? "")).body["error"]).toBe("invalid_grant");
  });

  it("does without the vendor", async () => {
    const { body } = await bench.connect();
    bench.provider.faults.next("/token/revocation", { kind: "drop" });
    expect((await bench.revoke(body["refresh_token"] ?? "")).status).toBe(200);
    expect(await link()).toBeUndefined();
  });
});

describe("endLink", () => {
  it("says what the vendor made of it", async () => {
    expect(await endLink("nobody", bench)).toEqual({});
    await bench.connect();
    expect(await endLink("user", bench)).toEqual({ vendor: "token" });
    await bench.connect();
    bench.provider.faults.next("/token/revocation", { kind: "drop" });
    expect(await endLink("user", bench)).toEqual({ vendor: "failed" });
  });

  it("leaves a link that began while the vendor was told", async () => {
    await bench.connect();
    const { vendorClient } = bench;
    const meanwhile: typeof vendorClient = {
      ...vendorClient,
      revokeToken: async () => {
        await bench.connect();
        return "token";
      },
    };
    await endLink("user", { ...bench, vendorClient: meanwhile });
    expect((await link())?.status).toBe("active");
  });
});

describe("the metadata", () => {
  const read = async (path: string, from: Pick<OpenIdBench, "request"> = bench) =>
    (await from.request(`/.well-known/${path}`)).json();

  it("rfc8414#2 bar#AS-17 is made of DEPLOYMENT_URL; rfc9207#2.4 a vendor that says who it is, is named", async () => {
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
      vendor_issuer: bench.provider.issuer,
    });
  });

  it("rfc9728#2 tells of the resource at the root and below its path, and of no offline_access", async () => {
    const other = await openOpenIdBench({ scopes: ["openid", "offline_access"] });
    const expected = {
      resource: `${SERVER}/mcp`,
      authorization_servers: [SERVER],
      scopes_supported: ["openid"],
      bearer_methods_supported: ["header"],
    };
    expect(await read("oauth-protected-resource", other)).toEqual(expected);
    expect(await read("oauth-protected-resource/mcp", other)).toEqual(expected);
    await other.close();
  });
});

describe("POST /register", () => {
  const register = async (body: unknown, from: Pick<OpenIdBench, "request"> = bench) => {
    const headers = { "content-type": "application/json" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const answer = await from.request("/register", { method: "POST", headers, body: text });
    return { status: answer.status, body: await answer.json() };
  };

  it("rfc7591#3.2.1 answers the one public client to whoever brings the platform's callback", async () => {
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
    const wishes = {
      client_name: "<b>Mine",
      token_endpoint_auth_method: "client_secret_post",
      application_type: "web",
    };
    expect(await register({ redirect_uris: [CALLBACK], ...wishes })).toEqual(expected);
  });

  it.each([
    ["another redirect URI", { redirect_uris: ["https://evil.example/cb"] }, "invalid_redirect_uri"],
    ["one more redirect URI", { redirect_uris: [CALLBACK, `${CALLBACK}/`] }, "invalid_redirect_uri"],
    ["none", { redirect_uris: [] }, "invalid_redirect_uri"],
    ["no list", { redirect_uris: CALLBACK }, "invalid_redirect_uri"],
    ["no redirect_uris", {}, "invalid_redirect_uri"],
    ["no object", [], "invalid_client_metadata"],
    ["no JSON", "{", "invalid_client_metadata"],
    [
      "a name twice",
      `{"redirect_uris":["${CALLBACK}"],"redirect_uris":["https://evil.example"]}`,
      "invalid_client_metadata",
    ],
  ])("rfc7591#3.2.2 refuses %s", async (_what, body, error) => {
    expect(await register(body)).toMatchObject({ status: 400, body: { error } });
  });

  it("is not there where it is switched off", async () => {
    const callback = { kind: "platform", redirectUri: CALLBACK, registers: false } as const;
    const closed = await openOpenIdBench({ settings: { callback } });
    expect((await register({ redirect_uris: [CALLBACK] }, closed)).status).toBe(404);
    const metadata = await (await closed.request("/.well-known/oauth-authorization-server")).json();
    expect(metadata).not.toHaveProperty("registration_endpoint");
    await closed.close();
  });
});
