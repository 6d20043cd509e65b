import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadSettings } from "@oauth-broker/mcp-auth/config";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { makeTestMaterials, runCreate } from "../testing/run-create.ts";
import { ROOT } from "../materials/make-materials.ts";
import { forSeveralVendors } from "./several-vendors.ts";

const OURS = { DEPLOYMENT_URL: "https://server.example.com", TRUSTED_PROXIES: "10.0.0.0/8" };
let desk: string;
beforeEach(() => {
  desk = temporaryFolder();
});

async function run(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const materials = async () => makeTestMaterials(join(desk, "materials"));
  const { code, printed, said } = await runCreate(args, { from: desk, materials });
  return { code, text: printed + said };
}

const written = (path: string): string => readFileSync(join(desk, path), "utf8");
const HOSTED = ["--mode", "hosted", "--vendor"];

describe("a project with several vendors", () => {
  it("has settings that start once each vendor's client is there, and the paths of the pages", async () => {
    const { code, text } = await run("several", ...HOSTED, "github,slack");
    expect({ code, text }).toEqual({
      code: 0,
      text: expect.stringContaining("call a tool, click the link, call again"),
    });
    expect(text).not.toContain("needs more");
    const file = parse(written("several/service.yaml")) as Record<string, Record<string, unknown>>;
    expect(file["environment"]).toMatchObject({
      VENDORS: "github,slack",
      SIGN_IN: "github",
      VENDOR_GITHUB_SCOPES: REGISTRY.get("github")?.vendor.defaultScopes.join(" "),
    });
    expect(file["environment"]).not.toHaveProperty("VENDOR");
    expect(file["service"]?.["expose"]).toEqual(
      expect.arrayContaining(["/callback", "/vendors/*", "/connect/*", "/connections"]),
    );
    const clients = Object.fromEntries(
      ["GITHUB", "SLACK"].flatMap((id) => [
        [`VENDOR_${id}_CLIENT_ID`, id],
        [`VENDOR_${id}_CLIENT_SECRET`, id],
      ]),
    );
    const environment = { ...(file["environment"] as Record<string, string>), ...OURS, ...clients, DATA_DIR: desk };
    expect(loadSettings(environment)).toMatchObject({ links: { signIn: "github" }, callback: { kind: "server" } });
  });

  it("has a tool for each, and the sample for one vendor not", async () => {
    await run("several", ...HOSTED, "github,slack", "--scopes", "github:repo slack:chat:write slack:users:read");
    expect(readdirSync(join(desk, "several/src/tools")).sort()).toEqual([
      "account-at-github.ts",
      "account-at-slack.ts",
      "index.ts",
      "whoami.ts",
    ]);
    expect(written("several/src/tools/account-at-slack.ts")).toContain(
      '  vendor: "slack",\n  scopes: ["chat:write", "users:read"],',
    );
    expect(written("several/src/tools/whoami.ts")).toContain("vendor: SIGN_IN_VENDOR,");
    const readme = written("several/README.md");
    expect(readme).toContain("## Call a tool, click the link, call again");
    expect(readme).toContain("| `account_at_slack` | Slack | `chat:write` `users:read` |");
    expect(readme).toContain("`http://127.0.0.1:8788/vendors/slack/callback` for `VENDOR_SLACK_CLIENT_ID`");
    expect(readme).not.toMatch(/list-pages|mcp-template/);
  });

  it("may have one of the author's own, whose issuer is left to fill in", async () => {
    const { code, text } = await run("several", ...HOSTED, "github,my-vendor");
    expect({ code, text }).toEqual({ code: 0, text: expect.stringContaining("needs VENDOR_MY_VENDOR_ISSUER") });
    const { environment } = parse(written("several/service.yaml")) as { environment: Record<string, string> };
    expect(environment).toMatchObject({ VENDOR_MY_VENDOR_SCOPES: "openid", VENDOR_MY_VENDOR_ISSUER: "" });
    expect(written("several/src/tools/account-at-my-vendor.ts")).toContain('  vendor: "my-vendor",');
  });
});

describe("a project's own tests, whatever the ids look like,", async () => {
  // While tests are collected, since these are among them.
  desk = mkdtempSync(join(tmpdir(), "several-"));
  const own = desk;
  afterAll(() => rmSync(own, { recursive: true, force: true }));
  await run("several", ...HOSTED, "github,google-workspace,3d-vault");
  symlinkSync(join(ROOT, "apps/mcp-template/node_modules"), join(own, "several/node_modules"));
  await import(pathToFileURL(join(own, "several/src/server.test.ts")).href);
});

describe("what cannot be", () => {
  it.each([
    [["--mode", "pre-registered", "--vendor", "github,slack"], /several ids is for --mode hosted/],
    [[...HOSTED, "github,slack", "--callback", "platform"], /--callback platform is for one vendor/],
    [[...HOSTED, "github,slack", "--scopes", "repo"], /repo names no vendor: with several it is ID:SCOPE/],
    [[...HOSTED, "github,slack", "--scopes", "slack:"], /slack: names no vendor/],
    [[...HOSTED, "github,slack,github"], /github is listed twice/],
    [[...HOSTED, "github,gihtub"], /gihtub: the registry has no such vendor. Did you mean github\?/],
    [[...HOSTED, "github,"], /an id is empty/],
  ])("%j", async (args, problem) => {
    const { code, text } = await run("several", ...args);
    expect({ code, text }).toEqual({ code: 2, text: expect.stringMatching(problem) });
    expect(readdirSync(desk)).toEqual([]);
  });

  it("two names of one vendor", async () => {
    const { text } = await run("several", ...HOSTED, "atlassian,jira");
    expect(text).toContain("atlassian and jira are one vendor");
  });

  it("a template that has changed: reported, and not written wrongly", () => {
    const vendors = [
      { id: "github", scopes: [] },
      { id: "slack", scopes: [] },
    ] as const;
    expect(() => forSeveralVendors(new Map([["src/main.ts", "other"]]), new Map(), vendors)).toThrow(
      "The template does not have",
    );
  });
});

it("one id is written as ever: the template's own files", async () => {
  await run("mcp-template", ...HOSTED, "github");
  const files = readdirSync(join(ROOT, "apps/mcp-template/src"), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile(),
  );
  expect(files.length).toBeGreaterThan(3);
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name).slice(join(ROOT, "apps/mcp-template/").length);
    expect(written(`mcp-template/${path}`)).toBe(
      readFileSync(join(ROOT, "apps/mcp-template", path), "utf8").replaceAll("MCP template", "Mcp template"),
    );
  }
  for (const path of ["README.md", "service.yaml"]) {
    expect(written(`mcp-template/${path}`)).toBe(readFileSync(join(ROOT, "apps/mcp-template", path), "utf8"));
  }
});
