import { startOpenIdProvider } from "@oauth-broker/simulators";
import type { VendorSimulator } from "@oauth-broker/simulators/vendors";
import { describe, expect, it, onTestFinished } from "vitest";
import { SIMULATORS } from "../../../../packages/simulators/src/testing/replay-fixture.ts";
import { atSimulator, startSimulator } from "../testing/at-simulator.ts";
import { expectRefused, runInProcess } from "../testing/in-process.ts";
import { startMetadataServer } from "../testing/metadata-server.ts";

const probe = (vendor: VendorSimulator, other: Readonly<Record<string, string>> = {}, ...more: string[]) =>
  runInProcess(["probe", ...atSimulator(vendor, other), ...more]);

const METHODS = "drift  code_challenge_methods_supported: the entry has S256";
const REGISTERED = "the entry has https://mcp.linear.app/register";

describe("vendor probe", () => {
  it.each(Object.keys(SIMULATORS))(
    "finds no drift between %s and its simulator, and leaves no state there",
    async (id) => {
      const { simulator: vendor } = await startSimulator(id);
      const { code, stdout, stderr } = await probe(vendor);
      expect(stdout).toContain(`${id}: no drift`);
      expect(stdout).toMatch(
        /^ok {5}token endpoint: \d{3} application\/json \{.*\}: (invalid_grant|vendor_credentials_rejected)$/m,
      );
      expect(stdout).not.toMatch(/^(drift|\?)/m);
      expect(stderr).toContain(`${id}: token endpoint`);
      expect(code).toBe(0);
      expect(vendor.liveTokens()).toEqual([]);
      expect(vendor.requests().some(({ path }) => path.includes("register"))).toBe(false);
    },
  );

  it("is a process that says each drift in a line and ends with 1", async () => {
    const { simulator: vendor } = await startSimulator("linear");
    const url = `${vendor.url}/moved`;
    const { code, stdout } = await runInProcess(["probe", ...atSimulator(vendor, { revocation_endpoint: url })]);
    expect(stdout).toContain(`drift  revocation_endpoint: the entry has ${url}, the metadata ${vendor.url}/token`);
    expect(stdout).toContain("linear: has drifted from its entry");
    expect(code).toBe(1);
  });

  it("prints its findings as JSON", async () => {
    const { code, stdout } = await probe((await startSimulator("github")).simulator, {}, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      vendors: [{ vendor: "github", askedOn: "2026-11-21", result: "same", findings: expect.any(Array) }],
    });
    expect(code).toBe(0);
  });

  it("reports a refusal that the broker would not understand", async () => {
    const { simulator: vendor } = await startSimulator("linear");
    const body = '{"error":"CANARY","scope":"CANARY"}';
    vendor.faultNext("/token", { kind: "answer", status: 400, headers: { "Content-Type": "application/json" }, body });
    const { code, stdout } = await probe(vendor);
    expect(stdout).toContain(
      'drift  token endpoint: 400 application/json {"error":"string","scope":"string: (other)"}: vendor_response_invalid',
    );
    expect(code).toBe(1);
  });

  it("reports an authorization endpoint that has moved, or is gone", async () => {
    const { simulator: vendor } = await startSimulator("linear");
    const headers = { location: "/new/authorize?client_id=x" };
    vendor.faultNext("/authorize", { kind: "answer", status: 301, headers });
    expect(await probe(vendor)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`drift  authorization endpoint: has moved to ${vendor.url}/new/authorize\n`),
    });
    vendor.faultNext("/authorize", { kind: "answer", status: 410 });
    expect((await probe(vendor)).code).toBe(1);
  });

  it("cannot ask a vendor that is down, and says so with 2; a drift beside it is 1", async () => {
    const { simulator: vendor } = await startSimulator("linear");
    const fault = { kind: "answer", status: 503 } as const;
    vendor.faultNext("/token", fault);
    const down = await probe(vendor);
    expect(down.stdout).toMatch(/^\? {6}token endpoint: could not be checked: .*status 503/m);
    expect(down.code).toBe(2);
    vendor.faultNext("/token", fault);
    expect((await probe(vendor, { registration_endpoint: `${vendor.url}/other` })).code).toBe(1);
    const gone = { id: "linear", endpoints: {} };
    const nowhere = "http://127.0.0.1:9";
    const all = {
      issuer: nowhere,
      authorization_endpoint: `${nowhere}/a`,
      token_endpoint: `${nowhere}/t`,
      revocation_endpoint: nowhere,
    };
    const { code, stdout } = await runInProcess(["probe", ...atSimulator(gone, all)]);
    expect(stdout.match(/^\?/gm)).toHaveLength(4);
    expect(code).toBe(2);
  });

  it.each<[string, string, (issuer: string) => object]>([
    ["of another issuer", "issuer_mismatch", (issuer) => ({ issuer: `${issuer}/` })],
    ["with a forbidden endpoint", "endpoint_forbidden", () => ({ jwks_uri: "https://10.0.0.1/" })],
    ["without our PKCE", METHODS, () => ({ code_challenge_methods_supported: ["plain"] })],
    ["with another scope", "drift  scopes_supported: the entry has read", () => ({ scopes_supported: ["all"] })],
    ["with a new endpoint", REGISTERED, (issuer) => ({ registration_endpoint: `${issuer}/new` })],
  ])("tells metadata %s", async (_, sentence, change) => {
    const { issuer } = await startMetadataServer(change);
    const { simulator: vendor } = await startSimulator("linear");
    const { authorization_endpoint: a = "", token_endpoint: t = "", revocation_endpoint: r = "" } = vendor.endpoints;
    const endpoints = { issuer, authorization_endpoint: a, token_endpoint: t, revocation_endpoint: r };
    const { code, stdout } = await runInProcess(["probe", ...atSimulator({ id: "linear", endpoints })]);
    expect(stdout).toContain(sentence);
    expect(code).toBe(1);
  });

  it("goes without metadata where the entry states its endpoints", async () => {
    const { issuer } = await startMetadataServer(() => undefined);
    const { code, stdout } = await probe((await startSimulator("github")).simulator, { issuer });
    expect(stdout).toMatch(/^- {6}metadata: .*no metadata in any of the well-known places/m);
    expect(code).toBe(0);
  });

  it("reports each endpoint of an MCP server that has moved", async () => {
    const { issuer } = await startMetadataServer((url) => ({ token_endpoint: `${url}/new/token` }));
    const endpoints = {
      issuer,
      server_url: `${issuer}/mcp`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
    };
    const { code, stdout } = await runInProcess(["probe", ...atSimulator({ id: "postman-mcp", endpoints })]);
    expect(stdout).toContain(`drift  token_endpoint: the entry has ${issuer}/token, the metadata ${issuer}/new/token`);
    expect(stdout).toContain(`ok     authorization_endpoint: ${issuer}/authorize`);
    expect(stdout).toMatch(/^drift {2}metadata: .*token_endpoint.*endpoint_mismatch/m);
    expect(code).toBe(1);
  });

  it("fills the placeholders of an entry of the catalogue", async () => {
    const provider = await startOpenIdProvider({ clients: [] });
    onTestFinished(() => provider.close());
    const { issuer } = provider;
    const endpoints = { authorization_endpoint: `${issuer}/{slug}`, token_endpoint: `${issuer}/token` };
    const args = ["probe", ...atSimulator({ id: "nationbuilder", endpoints })];
    const { code, stdout } = await runInProcess([...args, "--placeholder", "slug=auth"]);
    expect(stdout).toContain("nationbuilder: no drift");
    expect(code).toBe(0);
    expect(await runInProcess([...args, "--placeholder", "slug=../x"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("slug"),
    });
  });

  it("sends nothing when the arguments are invalid", async () => {
    await expectRefused([
      [["probe"], "probe takes one vendor"],
      [["probe", "linear", "github"], "probe takes one vendor"],
      [["probe", "linear", "--all-first-class"], "probe takes one vendor"],
      [["probe", "--all-first-class", "--placeholder", "a=b"], "probe takes one vendor"],
      [["probe", "lineer"], "The vendor lineer does not exist: docs/vendors.md lists them"],
      [["probe", "googl"], "The vendor googl does not exist: there is google"],
      [["probe", "okta"], "--placeholder okta_host=VALUE"],
      [["probe", "keycloak"], "--placeholder realm=VALUE"],
      [["probe", "linear", "--placeholder", "tenant=x"], "tenant"],
      [["probe", "linear", "--placeholder", "tenant"], "--placeholder takes NAME=VALUE"],
      [["probe", "okta", "--placeholder", "a=b", "--placeholder", "a=c"], "names a twice"],
      [["probe", "linear", "--endpoint", "token=https://a.example"], "--endpoint token: there is issuer"],
      [["probe", "linear", "--endpoint", "issuer=http://127.0.0.1"], "An endpoint must use https"],
    ]);
    expect((await runInProcess(["probe", "--help"])).stdout).toContain("--all-first-class");
  });
});
