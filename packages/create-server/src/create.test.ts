import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadSettings } from "@oauth-broker/mcp-auth/config";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { vendorChoices } from "./choices/choices.ts";
import type { Prompts } from "./choices/choose.ts";
import type { CreateDeps } from "./create.ts";
import { makeTestMaterials, type Ran, runCreate, TARBALLS } from "./testing/run-create.ts";
import { environmentOf } from "./project/service-yaml.ts";
import { ROOT } from "./materials/make-materials.ts";
import type { Materials } from "./materials/materials.ts";

const GOOD = ["--mode", "hosted", "--vendor", "github"];
let desk: string;
let materials: Materials;
beforeEach(() => {
  desk = join(temporaryFolder(), "create server");
  materials = makeTestMaterials(join(desk, "materials"));
});

const run = (args: readonly string[], changes: Partial<CreateDeps> = {}): Promise<Ran> =>
  runCreate(args, { from: desk, materials: async () => materials, ...changes });

const written = (path: string): string => readFileSync(join(desk, path), "utf8");

describe("a project", () => {
  it("has the template's files under its own name, and the next steps are printed", async () => {
    const { code, printed, said } = await run(["my-server", ...GOOD]);
    expect({ code, said }).toEqual({ code: 0, said: "" });
    expect(printed).toMatch(
      /my-server, hosted mode, github: \d+ files in [\d.]+ s\n\n {2}cd my-server\n {2}npm install +needs Node.js >=24\.15\n/,
    );
    expect(written("my-server/src/main.ts")).toContain('name: "my-server",\n  title: "My server",');
    expect(written("my-server/Dockerfile")).toContain("docker build -t my-server .");
    expect(written("my-server/.gitignore").split("\n")).toEqual(
      expect.arrayContaining(["node_modules/", "dist/", "data/"]),
    );
    expect(written("my-server/.dockerignore").split("\n")).toEqual(
      expect.arrayContaining(["node_modules/", "dist/", ".env", ".git/"]),
    );
    expect(readdirSync(join(desk, "my-server/packed")).sort()).toEqual(TARBALLS);
    for (const file of ["README.md", "Dockerfile", "src/main.ts", "package.json"]) {
      expect(written(`my-server/${file}`)).not.toMatch(/mcp-template|MCP template/);
    }
  });

  it("has one dependency, in packed/, and the package.json an author would write", async () => {
    await run(["my-server", ...GOOD]);
    expect(JSON.parse(written("my-server/package.json"))).toEqual({
      name: "my-server",
      version: "0.1.0",
      private: true,
      description: expect.any(String),
      type: "module",
      engines: { node: ">=24.15" },
      scripts: { dev: "mcp-dev", test: expect.any(String), build: expect.any(String), start: expect.any(String) },
      dependencies: { "@oauth-broker/mcp-auth": "file:packed/mcp-auth.tgz" },
      devDependencies: { "@oauth-broker/simulators": "file:packed/simulators.tgz", vitest: "1.0.0" },
    });
  });

  it("names versions and has no packed/ once a registry has the core", async () => {
    await run(["my-server", ...GOOD], { materials: async () => ({ ...materials, core: "registry" }) });
    expect(JSON.parse(written("my-server/package.json"))).toMatchObject({
      dependencies: { "@oauth-broker/mcp-auth": "^9.9.9" },
      devDependencies: { "@oauth-broker/simulators": "^9.9.9", vitest: "1.0.0" },
    });
    expect(existsSync(join(desk, "my-server/packed"))).toBe(false);
  });

  it("is named by --name where it is given, and goes into an empty folder, spaces included", async () => {
    mkdirSync(join(desk, "My Server"));
    const { code, printed } = await run(["My Server", "--name", "other", ...GOOD]);
    expect(code).toBe(0);
    expect(printed).toContain('cd "My Server"');
    expect(parse(written("My Server/service.yaml"))).toMatchObject({ name: "other" });
  });

  it("says what a vendor lacks before it starts, and before it is deployed", async () => {
    const linear = await run(["a", "--mode", "pre-registered", "--vendor", "linear"]);
    expect(linear.printed).toMatch(/service.yaml needs more:\n {2}VENDOR has no endpoint that says/);
    const google = await run(["b", "--mode", "hosted", "--vendor", "google-workspace"]);
    expect(google.printed).toMatch(/Before you deploy:\n {2}VENDOR approves each organization/);
  });
});

describe("a vendor of the author's own", () => {
  it("is one whose id resembles none of the registry; its issuer is left to fill in", async () => {
    const { code, printed } = await run(["x", "--mode", "hosted", "--vendor", "my-vendor"]);
    expect(code).toBe(0);
    expect(printed).toMatch(/service\.yaml needs more:\n +VENDOR is not a vendor of the registry.*needs VENDOR_ISSUER/);
    const { environment } = parse(written("x/service.yaml")) as { environment: Record<string, string> };
    const own = { VENDOR: "my-vendor", VENDOR_SCOPES: "openid", VENDOR_ISSUER: "" };
    expect(environment).toEqual({ OAUTH_MODE: "hosted", ...own });
    expect(written("x/service.yaml")).toContain("yours to fill in below");
  });

  it("needs nothing but its issuer", async () => {
    const vendors = [{ id: "my-vendor", scopes: ["openid"] }] as const;
    const environment = environmentOf({ name: "x", mode: "hosted", callback: "server", vendors });
    const { warnings } = loadSettings({
      ...environment,
      VENDOR_ISSUER: "https://vendor.example.com",
      VENDOR_CLIENT_ID: "id",
      VENDOR_CLIENT_SECRET: "secret",
      DEPLOYMENT_URL: "https://x.example.com",
      TRUSTED_PROXIES: "10.0.0.0/8",
    });
    expect(warnings).toEqual([expect.stringContaining("OAUTH_DYNAMIC_REGISTRATION is open")]);
  });
});

describe("what cannot be", () => {
  const refused = async (args: readonly string[], changes?: Partial<CreateDeps>): Promise<string> => {
    const before = readdirSync(desk, { recursive: true });
    const { code, said } = await run(args, changes);
    expect(code).toBe(2);
    expect(readdirSync(desk, { recursive: true })).toEqual(before);
    return said;
  };

  it.each([
    [
      "an unknown vendor, with the nearest",
      ["x", "--mode", "hosted", "--vendor", "gihtub"],
      /--vendor "gihtub".*Did you mean github\?/,
    ],
    ["no id at all", ["x", "--mode", "hosted", "--vendor", "My_Vendor"], /an id of your own has lower case letters/],
    ["an unknown mode", ["x", "--vendor", "github", "--mode", "pre-regisered"], /Did you mean pre-registered\?/],
    ["a name npm and images refuse", ["x", ...GOOD, "--name", "My Server"], /Did you mean my-server\?/],
    ["a name without a letter", ["x", ...GOOD, "--name", "123"], /begins with a letter/],
    ["a name that climbs out", ["x", ...GOOD, "--name", "../../x"], /a name has lower case letters/],
    ["invalid scopes", ["x", ...GOOD, "--scopes", 'a"b'], /--scopes/],
    ["scopes with commas", ["x", ...GOOD, "--scopes", "repo,user"], /--scopes.*separate scopes by spaces/],
    [
      "commas with several vendors",
      ["x", "--mode", "hosted", "--vendor", "slack,github", "--scopes", "slack:a,slack:b"],
      /--scopes.*separate scopes by spaces/,
    ],
    ["an unknown callback", ["x", ...GOOD, "--callback", "browser"], /it is platform or server/],
    [
      "a callback in pre-registered mode",
      ["x", "--mode", "pre-registered", "--vendor", "github", "--callback", "server"],
      /for --mode hosted/,
    ],
    ["an unknown option", ["x", ...GOOD, "--typescript"], /Unknown option '--typescript'[^]*--help/],
    ["an option without its value", ["x", "--mode"], /--mode.*argument missing[^]*--help/],
    ["an option twice", ["x", ...GOOD, "--vendor", "slack"], /--vendor is given twice/],
    ["two folders", ["x", "y", ...GOOD], /There is one FOLDER, and 2 were given/],
    ["a folder without a name", ["", ...GOOD], /FOLDER is missing/],
    ["a folder in the repository", [join(ROOT, "apps/new"), ...GOOD], /inside this repository.*\.\.\/new/],
  ])("%s", async (_name, args, message) => {
    expect(await refused(args, { repository: ROOT })).toMatch(message);
  });

  it("a folder in the repository, through a link to it", async () => {
    const repository = join(desk, "repository");
    mkdirSync(repository);
    symlinkSync(repository, join(desk, "link"));
    expect(await refused(["link/apps/new", ...GOOD], { repository })).toMatch(/inside this repository/);
  });

  it("a vendor that is off, with the reason", async () => {
    const off = [...REGISTRY.values()].find(({ vendor }) => !vendor.enabled);
    expect(await refused(["x", "--mode", "hosted", "--vendor", off?.vendor.id ?? ""])).toContain(
      off?.verification.reasonsOff?.[0],
    );
  });

  it("a folder that is not empty, a file in the way", async () => {
    mkdirSync(join(desk, "full"));
    writeFileSync(join(desk, "full/a"), "mine");
    expect(await refused(["full", ...GOOD])).toMatch(/full is not empty/);
    expect(await refused(["full/a", ...GOOD])).toMatch(/is a file/);
    expect(await refused(["full/a/b", ...GOOD])).toMatch(/is a file, or is below one/);
    expect(written("full/a")).toBe("mine");
  });

  it("without a terminal: everything that is missing, at once", async () => {
    const said = await refused([]);
    expect(said).toMatch(/FOLDER is missing[^]*--mode is missing[^]*--vendor is missing/);
    expect(await refused(["My Server", ...GOOD])).toMatch(/--name is missing/);
  });

  it("a folder in which nothing can be made: reported in a line, exit 1", async () => {
    if (process.platform !== "linux") return;
    const { code, said } = await run(["/proc/nope/x", ...GOOD]);
    expect({ code, said }).toEqual({ code: 1, said: expect.stringMatching(/^ENOENT.*\/proc\/nope[^\n]*\n$/) });
  });

  it("options that npm took for its own, with what npm needs", async () => {
    const hint = /npm took --mode, --vendor for its own\. Put -- before the options/;
    const taken = { takenByNpm: ["mode", "vendor"] };
    const spaced = await refused(["x", "hosted", "github"], taken);
    expect(spaced).toMatch(/^create-server: There is one FOLDER, and 3 were given/);
    expect(spaced).toMatch(hint);
    expect(await refused(["x"], taken)).toMatch(hint);
    expect(await refused(["x", "y", ...GOOD])).not.toContain("npm");
  });

  it("materials that cannot be made: reported in a line, exit 1, and nothing is written", async () => {
    const failing = async (): Promise<Materials> => {
      throw new Error("tsc failed: no");
    };
    const { code, said } = await run(["x", ...GOOD], { materials: failing });
    expect({ code, said }).toEqual({ code: 1, said: "tsc failed: no\n" });
    expect(existsSync(join(desk, "x"))).toBe(false);
  });
});

describe("on a terminal", () => {
  const asked: string[] = [];
  const prompts: Prompts = {
    folder: async () => (asked.push("folder"), "asked-for"),
    name: async () => (asked.push("name"), "named"),
    mode: async () => (asked.push("mode"), "pre-registered"),
    vendor: async () => (asked.push("vendor"), "slack"),
    scopes: async (usual) => (asked.push("scopes"), usual),
  };
  beforeEach(() => void asked.splice(0));

  it("asks for what is missing and nothing else", async () => {
    expect((await run([], { prompts: async () => prompts })).code).toBe(0);
    expect(asked).toEqual(["folder", "mode", "vendor", "scopes"]);
    expect(parse(written("asked-for/service.yaml"))).toMatchObject({ mode: "pre-registered", name: "asked-for" });
    asked.splice(0);
    expect((await run(["B C", ...GOOD, "--scopes", "repo"], { prompts: async () => prompts })).code).toBe(0);
    expect(asked).toEqual(["name"]);
  });

  it("does not ask for a mode that the options leave no choice of", async () => {
    const options = ["x", "--vendor", "github", "--callback", "server"];
    expect((await run(options, { prompts: async () => prompts })).code).toBe(0);
    expect(asked).toEqual(["scopes"]);
    expect(parse(written("x/service.yaml"))).toMatchObject({ mode: "hosted" });
  });

  it("writes nothing when the user cancels", async () => {
    const { code, said } = await run(["x"], { prompts: async () => ({ ...prompts, mode: async () => undefined }) });
    expect({ code, said }).toEqual({ code: 1, said: "Nothing was written.\n" });
    expect(existsSync(join(desk, "x"))).toBe(false);
  });

  it("refuses what is wrong before it asks", async () => {
    const { code } = await run(["x", "--vendor", "No such vendor"], { prompts: async () => prompts });
    expect({ code, asked }).toEqual({ code: 2, asked: [] });
  });
});

describe("help and version", () => {
  it.each([
    [["--help"], /^Usage: create-server FOLDER/],
    [["-h", "x"], /^Usage: create-server FOLDER/],
    [["--version"], /^9\.9\.9\n$/],
    [["-v"], /^9\.9\.9\n$/],
  ])("%j", async (args, text) => {
    const { code, printed } = await run(args);
    expect(code).toBe(0);
    expect(printed).toMatch(text);
  });
});

describe("the search for a vendor", () => {
  const ids = (search?: string): string[] => vendorChoices(search).map(({ id }) => id);

  it("begins with the vendors that have a file of their own, and has none that is off", () => {
    expect(ids()[0]).toBe("atlassian");
    expect(ids().every((id) => REGISTRY.get(id)?.vendor.enabled === true)).toBe(true);
  });

  it("puts what begins with the words before what has them somewhere", () => {
    expect(ids("Git")[0]).toBe("github");
    expect(ids("git")).toContain("digitalocean");
    expect(ids("no such vendor")).toEqual([]);
  });
});
