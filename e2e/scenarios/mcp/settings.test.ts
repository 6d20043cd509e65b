/**
 * What the variables of a server change, seen from outside: registration, limits, vendors without
 * PKCE, which tokens are accepted.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { callTool, connectClient, postWhoami } from "../../support/mcp/client.ts";
import { createMcpPlatform, errorOf } from "../../support/mcp/platform.ts";
import { type ServerInProcess, serveTemplate } from "../../support/mcp/in-process.ts";
import { type Environment, hostedEnvironment } from "../../support/mcp/process.ts";
import { type GitHubVendor, OTHER_CLIENT, startGitHubVendor, startOpenIdVendor } from "../../support/mcp/vendor.ts";
import { send } from "../../support/broker/platform.ts";

const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
let vendor: GitHubVendor;
beforeAll(async () => {
  vendor = await startGitHubVendor();
});
afterAll(() => vendor.close());

/** For one test, stopped at its end. */
async function serving(env: Environment, test: (server: ServerInProcess) => Promise<void>): Promise<void> {
  const server = await serveTemplate(env);
  await test(server);
  await server.stop();
}

it("OAUTH_REGISTER=off: no /register, and not in the metadata", async () => {
  await serving({ ...(await hostedEnvironment()), ...vendor.env, OAUTH_REGISTER: "off" }, async ({ url }) => {
    expect((await send(`${url}/register`, { method: "POST", body: "{}" })).status).toBe(404);
    const { body } = await send(`${url}/.well-known/oauth-authorization-server`);
    expect([body["token_endpoint"], body["registration_endpoint"]]).toEqual([`${url}/token`, undefined]);
  });
});

describe("LIMITS_REQUESTS_PER_MINUTE=5", () => {
  const limited = async (more: Environment = {}) => ({
    ...(await hostedEnvironment()),
    ...vendor.env,
    LIMITS_REQUESTS_PER_MINUTE: "5",
    ...more,
  });
  const ask = async (url: string, from?: string): Promise<number> => {
    const headers = from === undefined ? {} : { "x-forwarded-for": from };
    return (await send(`${url}/token`, { method: "POST", body: new URLSearchParams({ a: "b" }), headers })).status;
  };
  const askAll = async (url: string, froms: readonly (string | undefined)[]): Promise<number[]> => {
    const statuses: number[] = [];
    for (const from of froms) statuses.push(await ask(url, from));
    return statuses;
  };

  it("ends at the sixth OAuth request with Retry-After, and leaves /mcp and metadata", async () => {
    await serving(await limited(), async ({ url, mcp }) => {
      expect(await askAll(url, Array.from({ length: 6 }))).toEqual([400, 400, 400, 400, 400, 429]);
      const late = await send(`${url}/revoke`, { method: "POST", body: new URLSearchParams({ a: "b" }) });
      expect([late.status, late.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^[1-9]\d?$/)]);
      expect((await postWhoami(mcp, "unknown-token")).status).toBe(401);
      expect((await send(`${url}/.well-known/oauth-authorization-server`)).status).toBe(200);
    });
  });

  it("ignores a forwarded address from an untrusted caller", async () => {
    await serving(await limited(), async ({ url }) => {
      const froms = Array.from({ length: 6 }, (_, index) => `198.51.100.${index}`);
      expect((await askAll(url, froms)).at(-1)).toBe(429);
    });
  });

  it("behind a trusted proxy counts by what that proxy saw, not by what the caller claims", async () => {
    await serving(await limited({ TRUSTED_PROXIES: "127.0.0.0/8" }), async ({ url }) => {
      const honest = Array.from({ length: 6 }, (_, index) => `198.51.100.${index}`);
      expect(await askAll(url, honest)).toEqual(honest.map(() => 400));
      const liar = Array.from({ length: 6 }, (_, index) => `192.0.2.${index}, 203.0.113.9`);
      expect((await askAll(url, liar)).at(-1)).toBe(429);
    });
  });
});

describe("LIMITS_REFUSED_TOKENS_PER_MINUTE=5", () => {
  const junk = (count: number): string[] => Array.from({ length: count }, (_, index) => `unknown-token-${index}`);
  const presentAll = async (mcp: string, tokens: readonly string[], init: RequestInit = {}): Promise<number[]> => {
    const statuses: number[] = [];
    for (const token of tokens) statuses.push((await postWhoami(mcp, token, init)).status);
    return statuses;
  };
  const LIMIT = { LIMITS_REFUSED_TOKENS_PER_MINUTE: "5" };

  it("bar#ST-8 ends the sixth refused token of an address; tokens in use pass (#11)", async () => {
    const preRegistered = { OAUTH_MODE: "pre-registered", PORT: String(await freePort()), ...vendor.env, ...LIMIT };
    await serving({ ...preRegistered, TRUSTED_PROXIES: "127.0.0.0/8" }, async ({ mcp }) => {
      const [used, fresh] = [await vendor.obtainToken(), await vendor.obtainToken({ account: "operator" })];
      const checks = (): number =>
        vendor.github.requests().filter(({ path }) => path.startsWith("/applications/")).length;
      expect((await postWhoami(mcp, used)).status).toBe(200);
      const before = checks();
      const dead = Array.from({ length: 3 }, () => "unknown-token-0");
      expect(await presentAll(mcp, [...dead, ...junk(7)])).toEqual([401, 401, 401, 401, 401, 401, 401, 401, 429, 429]);
      expect(checks() - before).toBe(5);
      const late = await postWhoami(mcp, fresh);
      expect([late.status, late.headers.get("retry-after"), late.headers.get("content-type")]).toEqual([
        429,
        expect.stringMatching(/^[1-9]\d?$/),
        expect.stringContaining("application/json"),
      ]);
      expect(JSON.parse(late.text)).toMatchObject({ error: "slow_down" });
      expect((await postWhoami(mcp, used)).status).toBe(200);
      expect(await presentAll(mcp, [fresh], { headers: { "x-forwarded-for": "198.51.100.1" } })).toEqual([200]);
    });
  });

  it("bar#ST-8 holds in hosted mode too (#11)", async () => {
    await serving({ ...(await hostedEnvironment()), ...vendor.env, ...LIMIT }, async ({ url, mcp }) => {
      const { accessToken } = await (await createMcpPlatform(url)).connect();
      expect((await postWhoami(mcp, accessToken)).status).toBe(200);
      expect(await presentAll(mcp, junk(7))).toEqual([401, 401, 401, 401, 401, 429, 429]);
      expect((await postWhoami(mcp, accessToken)).status).toBe(200);
    });
  });
});

it("bar#AS-12 the eleventh client in a minute is 429 from one address, 201 from another (#11)", async () => {
  const port = String(await freePort());
  const env = {
    OAUTH_MODE: "hosted",
    OAUTH_CALLBACK: "server",
    DEPLOYMENT_URL: `http://127.0.0.1:${port}`,
    PORT: port,
    OAUTH_DYNAMIC_REGISTRATION: "open",
    TRUSTED_PROXIES: "127.0.0.0/8",
  };
  await serving({ ...env, ...vendor.env }, async ({ url }) => {
    const register = async (from: string): Promise<number> => {
      const headers = { "content-type": "application/json", "x-forwarded-for": from };
      const body = JSON.stringify({ redirect_uris: ["https://app.example/back"], client_name: "App" });
      return (await send(`${url}/register`, { method: "POST", headers, body })).status;
    };
    const statuses: number[] = [];
    for (let index = 0; index < 12; index += 1) statuses.push(await register("198.51.100.1"));
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 201), 429, 429]);
    expect(await register("198.51.100.2")).toBe(201);
  });
});

describe("a vendor without PKCE", () => {
  it("and without ID tokens is refused at start, unless the operator insists", async () => {
    const env = { ...(await hostedEnvironment()), ...vendor.env, VENDOR_PKCE: "none" };
    await expect(serveTemplate(env)).rejects.toThrow("ALLOW_VENDOR_WITHOUT_PKCE");
    await serving({ ...env, ALLOW_VENDOR_WITHOUT_PKCE: "true" }, async (server) => {
      expect(server.stdout()).toMatch(/"level":"warn".*AN ATTACKER WHO STEALS A CODE/);
      const { accessToken } = await (await createMcpPlatform(server.url)).connect();
      expect((await postWhoami(server.mcp, accessToken)).status).toBe(200);
    });
  });

  it("bar#AS-3 is protected by the ID token's nonce: a code needs its verifier", async () => {
    const openId = await startOpenIdVendor({ pkceRequired: false });
    await serving({ ...(await hostedEnvironment()), ...openId.env, VENDOR_PKCE: "none" }, async (server) => {
      const platform = await createMcpPlatform(server.url);
      const stolen = await platform.toVendor();
      const [sent] = openId.provider.requests().filter(({ path }) => path === "/auth");
      expect(sent?.query).not.toHaveProperty("code_challenge");
      expect(sent?.query["nonce"]).toMatch(/^[\w-]{43}$/);
      expect(await errorOf(platform.redeem({ ...stolen, codeVerifier: VERIFIER }))).toBe("400 invalid_grant");
      const { accessToken } = await platform.connect();
      expect((await postWhoami(server.mcp, accessToken)).status).toBe(200);
    });
    await openId.close();
  });
});

describe("pre-registered mode", () => {
  const preRegistered = async (): Promise<Environment> => ({
    OAUTH_MODE: "pre-registered",
    PORT: String(await freePort()),
    ...vendor.env,
  });

  it("without VENDOR_CLIENT_ID takes the vendor's word alone: a token of any app there is good", async () => {
    const env = { ...(await preRegistered()), VENDOR_CLIENT_ID: "", VENDOR_CLIENT_SECRET: "" };
    await serving(env, async ({ mcp }) => {
      const foreign = await vendor.obtainToken({ clientId: OTHER_CLIENT });
      expect((await postWhoami(mcp, foreign)).status).toBe(200);
      expect((await postWhoami(mcp, "gho_of_nobody_at_all")).status).toBe(401);
    });
  });

  it("with a DEPLOYMENT_URL goes by that name alone", async () => {
    const port = String(await freePort());
    const env = { ...(await preRegistered()), PORT: port, DEPLOYMENT_URL: `http://localhost:${port}` };
    await serving(env, async (server) => {
      expect(server.url).toBe(`http://localhost:${port}`);
      const token = await vendor.obtainToken();
      expect((await postWhoami(`http://127.0.0.1:${port}/mcp`, token)).status).toBe(403);
      const client = await connectClient(`http://localhost:${port}/mcp`, token);
      expect((await callTool(client, "whoami")).value).toMatchObject({ id: 1 });
      await client.close();
    });
  });
});
