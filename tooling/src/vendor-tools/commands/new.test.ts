import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { RegistryEntry } from "@oauth-broker/oauth-core/registry";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { startOpenIdProvider } from "@oauth-broker/simulators";
import { startLinear } from "@oauth-broker/simulators/vendors";
import { describe, expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../sources.ts";
import { vendorFile } from "./vendor-file.ts";
import { expectRefused, runInProcess } from "../testing/in-process.ts";
import { startMetadataServer } from "../testing/metadata-server.ts";

const REGISTRY_FOLDER = pathToFileURL(join(ROOT, "packages/oauth-core/src/registry/")).href;

/** The file as the registry would load it. */
async function load(folder: string, id: string, name: string): Promise<RegistryEntry> {
  const text = readFileSync(join(folder, `${id}.ts`), "utf8").replaceAll('from "../', `from "${REGISTRY_FOLDER}`);
  const path = join(folder, `${id}.loaded.ts`);
  writeFileSync(path, text);
  return ((await import(/* @vite-ignore */ pathToFileURL(path).href)) as Record<string, RegistryEntry>)[name]!;
}

describe("vendor new", () => {
  it("writes what an OpenID provider publishes, its source and the day", async () => {
    const provider = await startOpenIdProvider({ clients: [], registration: {} });
    onTestFinished(() => provider.close());
    const out = temporaryFolder();
    const { issuer } = provider;
    const args = ["new", "--issuer", issuer, "--id", "my-vendor", "--out", out, "--loopback"];
    const { code, stdout, stderr } = await runInProcess([...args, "--name", 'My "own" Vendor']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: `Fetching the metadata of ${issuer}\n` });
    const entry = await load(out, "my-vendor", "myVendor");
    expect(entry).toMatchObject({
      vendor: {
        id: "my-vendor",
        name: 'My "own" Vendor',
        issuer,
        authorizationEndpoint: `${issuer}/auth`,
        tokenEndpoint: `${issuer}/token`,
        revocationEndpoint: `${issuer}/token/revocation`,
        registrationEndpoint: `${issuer}/reg`,
        jwksUri: `${issuer}/jwks`,
        userinfoEndpoint: `${issuer}/me`,
        pkce: "S256",
        offlineScopes: ["offline_access"],
        tokenEndpointAuthMethod: "client_secret_basic",
        idTokenAlgs: ["ES256"],
        defaultScopes: [],
        enabled: true,
      },
      placeholders: {},
      setup: "none",
      byoc: false,
      verification: {
        status: "first-class",
        checkedOn: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        sources: [`${issuer}/.well-known/openid-configuration`],
      },
    });
    expect(entry.vendor).not.toHaveProperty("rotatesRefreshTokens");
    for (const said of ["defaultScopes:", "rotatesRefreshTokens:", "npm run docs", "docs/adding-a-vendor.md"]) {
      expect(stdout).toContain(said);
    }
    expect(stdout).not.toContain("pkce:");
  });

  it("writes what an authorization server without ID tokens publishes", async () => {
    const linear = await startLinear();
    onTestFinished(() => linear.close());
    const out = temporaryFolder();
    const args = ["new", "--issuer", linear.url, "--id", "tracker", "--out", out, "--loopback"];
    expect((await runInProcess(args)).code).toBe(0);
    const { vendor, verification } = await load(out, "tracker", "tracker");
    expect(vendor).toMatchObject({ name: "Tracker", issuesIdTokens: false, revocationEndpoint: `${linear.url}/token` });
    expect(verification.sources).toEqual([`${linear.url}/.well-known/oauth-authorization-server`]);
  });

  it("uses the methods that are offered, and lists what is unknown", async () => {
    const offering = await startMetadataServer(() => ({
      code_challenge_methods_supported: ["plain"],
      token_endpoint_auth_methods_supported: ["private_key_jwt", "client_secret_post"],
    }));
    const out = temporaryFolder();
    const args = ["new", "--out", out, "--loopback", "--issuer"];
    const { stdout } = await runInProcess([...args, offering.issuer, "--id", "a1"]);
    expect((await load(out, "a1", "a1")).vendor).toMatchObject({
      pkce: "plain",
      tokenEndpointAuthMethod: "client_secret_post",
    });
    expect(stdout).toContain("revocationHelp:");
    const silent = await runInProcess([...args, (await startMetadataServer()).issuer, "--id", "a2"]);
    expect(silent.stdout).toContain("pkce: metadata says nothing");
    expect(silent.stdout).toContain("tokenEndpointAuthMethod: metadata says nothing");
  });

  it("overwrites nothing", async () => {
    const { issuer } = await startMetadataServer();
    const out = temporaryFolder();
    writeFileSync(join(out, "taken.ts"), "mine");
    const args = ["new", "--issuer", issuer, "--out", out, "--loopback", "--id"];
    const taken = await runInProcess([...args, "taken"]);
    expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining("already exists and is not overwritten") });
    expect(await runInProcess([...args, "linear"])).toMatchObject({
      code: 2,
      stderr: "linear is already a first-class vendor\n",
    });
    expect(readdirSync(out)).toEqual(["taken.ts"]);
    expect(readFileSync(join(out, "taken.ts"), "utf8")).toBe("mine");
  });

  const onHttp = { token_endpoint: "http://vendor.example/token" };
  const byCertificate = { token_endpoint_auth_methods_supported: ["tls_client_auth"] };
  it.each<[string, string, (issuer: string) => object | undefined]>([
    ["no metadata", "no metadata in any of the well-known places", () => undefined],
    ["another issuer", "check the trailing slash", (issuer) => ({ issuer: `${issuer}/` })],
    ["no token endpoint", "authorization or token endpoint is missing", () => ({ token_endpoint: undefined })],
    ["an endpoint on http", "token_endpoint is not an acceptable URL", () => onHttp],
    ["no code flow", "does not offer response type code", () => ({ response_types_supported: ["token"] })],
    ["client authentication we lack", "supports none of client_secret_basic", () => byCertificate],
  ])("writes no file for metadata with %s", async (_, sentence, change) => {
    const { issuer } = await startMetadataServer(change);
    const out = temporaryFolder();
    const { code, stderr } = await runInProcess(["new", "--issuer", issuer, "--id", "bad", "--out", out, "--loopback"]);
    expect(stderr).toContain(sentence);
    expect(code).toBe(1);
    expect(readdirSync(out)).toEqual([]);
  });

  it("sends nothing when the arguments are invalid", async () => {
    const issuer = ["--issuer", "https://vendor.example"];
    await expectRefused([
      [["new"], "new takes --issuer URL"],
      [["new", "--issuer", "http://vendor.example"], "An endpoint must use https"],
      [["new", "--issuer", "http://127.0.0.1:1"], "An endpoint must use https"],
      [["new", "--issuer", "https://127.0.0.1", "--id", "a"], "public internet"],
      [["new", "--issuer", "vendor.example"], "absolute https URL"],
      [["new", "--issuer", "https://vendor.example?a=b", "--id", "a"], "must have no query"],
      [["new", "--issuer", "https://localhost:1", "--loopback"], "--id is needed"],
      [["new", ...issuer, "--id", "../evil"], "--id must be"],
      [["new", ...issuer, "--id", "default"], "--id must be"],
      [["new", ...issuer, "--id", "custom"], "--id must be"],
      [["new", ...issuer, "--name", "a */ b"], "--name must have"],
      [["new", ...issuer, "--nmae", "a"], "Unknown option"],
      [["invent"], "there is no command 'invent'"],
    ]);
    expect(existsSync(join(ROOT, "packages/oauth-core/src/registry/vendor.example.ts"))).toBe(false);
  });

  it("fails when no server listens", async () => {
    const args = ["new", "--issuer", "http://127.0.0.1:9", "--id", "gone", "--out", temporaryFolder(), "--loopback"];
    expect(await runInProcess(args)).toMatchObject({ code: 2, stderr: expect.stringContaining("127.0.0.1:9") });
  });

  it.each([["--help"], ["new", "--help"]])("says how it is used", async (...args) => {
    expect(await runInProcess(args)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Usage: npm run vendor/),
    });
  });

  it("breaks long lists as the formatter does", async () => {
    const far = `https://vendor.example/${"a".repeat(120)}`;
    const vendor = { id: "a", name: "A", issuer: far, idTokenAlgs: ["RS256"] };
    const text = await vendorFile(vendor, { checkedOn: "2026-11-21", sources: [far] });
    for (const lines of [`sources: [\n      "${far}",\n`, `idTokenAlgs: ["RS256"],\n`, `issuer:\n      "${far}",\n`])
      expect(text).toContain(`    ${lines}`);
  });
});
