/**
 * From the published command to a served /mcp, in the soak: a project outside the repository installs with plain
 * npm, passes its own tests, builds, starts, has exactly the open paths that its service.yaml
 * lists, and takes the next release without an edit.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { volume } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { callTool, connectClient } from "../../support/mcp/client.ts";
import { authorizeClient } from "../../support/mcp/client-oauth.ts";
import { startGitHubVendor, type GitHubVendor } from "../../support/mcp/vendor.ts";
import { PLATFORM_CALLBACK } from "../../support/mcp/process.ts";
import { IMPORT_ALL, makeTarballs, nodeOf, tarballOf } from "../../support/packages/packages.ts";
import { ROOT } from "../../support/paths.ts";
import { mustRun, plainEnvironment, run } from "../../support/packages/scaffold.ts";
import { startService } from "../../support/service-process.ts";

const OAUTH_PATHS = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-protected-resource/mcp",
  "/authorize",
  "/callback",
  "/consent",
  "/token",
  "/register",
  "/revoke",
];
const INSTALL_MS = 180_000;
/** The published command; turbo builds it first. */
const CREATE_SERVER = join(ROOT, "packages/create-server/dist/main.js");
/** The soak has it as it is published. */
const COMMAND = volume({ test: join(ROOT, "packages/create-server/src/main.ts"), soak: CREATE_SERVER });
/** The redirect URI of an MCP client on the same machine. */
const DESK_CALLBACK = "http://127.0.0.1:9/callback";
/**
 * The time limit from the command to a served /mcp on an idle machine, doubled for a shared one.
 */
const AIM_MS = 60_000;

let desk: string;
let hosted: string;
let preRegistered: string;
let vendor: GitHubVendor;
/** A user who connected to the first release. */
let connected: { readonly port: string; readonly accessToken: string };

beforeAll(async () => {
  if (BY_PACKED.length > 0) makeTarballs();
  desk = mkdtempSync(join(tmpdir(), "oauth-broker-scaffold-"));
  hosted = join(desk, "My hosted server");
  preRegistered = join(desk, "my-server");
  vendor = await startGitHubVendor();
}, INSTALL_MS);
// Thousands of files: slower than other folders.
afterAll(async () => {
  await vendor.close();
  await rm(desk, { recursive: true, force: true });
}, INSTALL_MS);

/** The author's own part of a project: everything except what commands create. */
function authorsFiles(project: string): ReadonlyMap<string, string> {
  const paths = globSync("**/*", {
    cwd: project,
    exclude: ["node_modules/**", "dist/**", "packed/**", "data/**"],
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.endsWith("package-lock.json"));
  return new Map(paths.sort().map((path) => [path, readFileSync(path, "utf8")]));
}

/** The paths that service.yaml lists, read without a YAML library: `    - /path`. */
const exposed = (project: string): string[] =>
  [...readFileSync(join(project, "service.yaml"), "utf8").matchAll(/^ +- (\/\S+)$/gm)].map(([, path = ""]) => path);

async function built(
  project: string,
  { port: given, ...env }: Readonly<Record<string, string>> & { readonly port?: string },
) {
  const port = given ?? String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  return startService({
    name: "server",
    file: join(project, "dist/main.js"),
    env: { ...vendor.env, PORT: port, DEPLOYMENT_URL: url, PLATFORM_OAUTH_CALLBACK_URL: PLATFORM_CALLBACK, ...env },
  });
}

async function openPaths(url: string): Promise<string[]> {
  const found = await Promise.all(
    OAUTH_PATHS.map(async (path) =>
      (await fetch(`${url}${path}`, { redirect: "manual" })).status === 404 ? [] : [path],
    ),
  );
  return found.flat();
}

async function expectServed(url: string): Promise<void> {
  const answer = await fetch(`${url}/mcp`, { method: "POST" });
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
}

interface Development {
  /** The URL of `/mcp`, as printed. */
  readonly endpoint: string;
  readonly said: () => string;
  stop(): Promise<void>;
}

/** Runs `npm run dev` until it has printed what to do next. */
async function develop(project: string): Promise<Development> {
  const env = { ...plainEnvironment(), PORT: String(await freePort()), NO_COLOR: "1" };
  const child = spawn("npm", ["run", "dev"], { cwd: project, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (said += text));
  const stop = async (): Promise<void> => {
    const ended = once(child, "exit");
    // As Ctrl-C does: to the whole process group.
    process.kill(-(child.pid ?? 0), "SIGINT");
    await ended;
  };
  const endpoint = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`npm run dev ended with ${code}:\n${said}`)));
    createInterface({ input: child.stderr }).on("line", (line) => {
      said += `${line}\n`;
      const [, found] = /MCP endpoint\s+(\S+)/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
      if (line.includes("Ctrl-C ends it")) child.removeAllListeners("exit");
    });
  });
  return { endpoint, said: () => said, stop };
}

/** They install from the registry, test, build and serve, one project after the other. */
const [BY_PACKED, BY_BUILT] = volume<readonly [readonly string[], readonly string[]]>({
  test: [[], []],
  soak: [["by the packed command"], ["by the built command"]],
});
describe.each(BY_PACKED)("hosted mode, %s", () => {
  it(
    "is served within a minute of the command, on a practice copy of the vendor",
    { timeout: INSTALL_MS },
    async () => {
      const started = performance.now();
      const args = [hosted, "--name", "my-hosted-server", "--mode", "hosted", "--vendor", "github"];
      const { stdout } = await mustRun(
        "npm",
        ["exec", "--yes", `--package=${tarballOf("create-server")}`, "--", "create-server", ...args],
        desk,
      );
      expect(stdout).toContain("npm run dev");
      await mustRun("npm", ["install", "--no-audit", "--no-fund"], hosted);
      const server = await develop(hosted);
      const took = performance.now() - started;
      try {
        await expectServed(new URL(server.endpoint).origin);
        expect(server.said()).toContain("my-hosted-server runs in hosted mode, on a practice copy of GitHub");
        const { client } = await authorizeClient(server.endpoint, {
          era: "modern",
          account: "user",
          callback: DESK_CALLBACK,
        });
        expect((await callTool(client, "whoami")).value).toMatchObject({ login: expect.any(String) });
        await client.close();
      } finally {
        await server.stop();
      }
      expect(took).toBeLessThan(2 * AIM_MS);
    },
  );

  it("loads the core on the oldest Node.js, and npm run dev says on an older one what to install", async () => {
    const script = join(hosted, IMPORT_ALL);
    cpSync(join(ROOT, "e2e/support/packages", IMPORT_ALL), script);
    const entries = ["", "/bundle", "/config"].map((entry) => `@oauth-broker/mcp-auth${entry}`);
    expect(await mustRun(await nodeOf("24.15.0"), [script, ...entries], hosted)).toMatchObject({ stderr: "" });
    await rm(script);
    const env = plainEnvironment();
    const PATH = [dirname(await nodeOf("22.19.0")), env["PATH"]].join(delimiter);
    const { code, stderr } = await run("npm", ["run", "--silent", "dev"], hosted, { ...env, PATH });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^mcp-dev needs Node.js 24.15 or newer, and this is 22.19.0: install one [^\n]+\n$/,
      ),
    });
  });

  it("asked no registry for the core", () => {
    const lock = JSON.parse(readFileSync(join(hosted, "package-lock.json"), "utf8")) as {
      readonly packages: Readonly<Record<string, { readonly resolved?: string; readonly inBundle?: boolean }>>;
    };
    const own = Object.entries(lock.packages).filter(([path]) => path.includes("@oauth-broker/"));
    expect(Object.fromEntries(own.map(([path, { resolved, inBundle }]) => [path, resolved ?? inBundle]))).toEqual({
      "node_modules/@oauth-broker/mcp-auth": "file:packed/mcp-auth.tgz",
      "node_modules/@oauth-broker/mcp-auth/node_modules/@oauth-broker/oauth-core": true,
      "node_modules/@oauth-broker/mcp-auth/node_modules/@oauth-broker/service": true,
      "node_modules/@oauth-broker/mcp-auth/node_modules/@oauth-broker/token-store": true,
      "node_modules/@oauth-broker/simulators": "file:packed/simulators.tgz",
    });
  });

  it(
    "passes its own tests, builds, and has exactly the paths of its service.yaml",
    { timeout: INSTALL_MS },
    async () => {
      await mustRun("npm", ["test"], hosted);
      await mustRun("npm", ["run", "build"], hosted);
      const server = await built(hosted, { OAUTH_MODE: "hosted", DATA_DIR: join(desk, "data") });
      await expectServed(server.url);
      expect([...(await openPaths(server.url)), "/favicon.ico"]).toEqual(exposed(hosted));
      expect(exposed(hosted)).toHaveLength(8);
      // For the next release.
      const platform = await authorizeClient(`${server.url}/mcp`, { era: "modern", account: "user" });
      await platform.client.close();
      connected = { port: new URL(server.url).port, accessToken: platform.tokens.accessToken };
      await server.stop();
    },
  );

  it(
    "takes the next release by npm update: no file changes, users stay connected",
    { timeout: INSTALL_MS },
    async () => {
      const before = authorsFiles(hosted);
      expect(before.size).toBeGreaterThan(8);
      await packNextRelease(join(hosted, "packed"), join(desk, "next"), "0.1.1");
      const core = ["@oauth-broker/mcp-auth", "@oauth-broker/simulators"];
      await mustRun("npm", ["update", "--no-audit", "--no-fund", ...core], hosted);
      await mustRun("npm", ["run", "build"], hosted);
      const { port, accessToken } = connected;
      const server = await built(hosted, { OAUTH_MODE: "hosted", DATA_DIR: join(desk, "data"), port });
      expect(await (await fetch(`${server.url}/healthz`)).json()).toMatchObject({ release: "0.1.1" });
      expect([...(await openPaths(server.url)), "/favicon.ico"]).toEqual(exposed(hosted));
      expect(await whoami(`${server.url}/mcp`, accessToken)).toEqual(expect.any(String));
      await server.stop();
      expect(authorsFiles(hosted)).toEqual(before);
    },
  );
});

describe.each(BY_BUILT)("pre-registered mode, %s", () => {
  beforeAll(async () => {
    await mustRun(
      process.execPath,
      [CREATE_SERVER, preRegistered, "--mode", "pre-registered", "--vendor", "github"],
      desk,
    );
    // The same packages and sources as in the other project: installed and built once.
    cpSync(join(hosted, "dist"), join(preRegistered, "dist"), { recursive: true });
    cpSync(join(hosted, "packed"), join(preRegistered, "packed"), { recursive: true });
    symlinkSync(join(hosted, "node_modules"), join(preRegistered, "node_modules"));
  });

  it("has the sources that were tested and built in the other project, under its own name", () => {
    const named = (text: string): string =>
      text.replaceAll("my-server", "my-hosted-server").replaceAll("My server", "My hosted server");
    const sources = (project: string, change = (text: string): string => text): [string, string][] =>
      [...authorsFiles(project)]
        .map(([path, text]): [string, string] => [path.slice(project.length), change(text)])
        .filter(([path]) => /^\/(?:src\/|tsconfig|rolldown)/.test(path));
    expect(sources(preRegistered, named)).toEqual(sources(hosted));
    expect(sources(hosted).length).toBeGreaterThan(5);
  });

  it("compiles with several vendors too, whatever their ids look like", async () => {
    const several = join(desk, "several");
    const vendors = ["--mode", "hosted", "--vendor", "github,google-workspace,3d-vault"];
    await mustRun(process.execPath, [CREATE_SERVER, several, ...vendors], desk);
    symlinkSync(join(hosted, "node_modules"), join(several, "node_modules"));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const compiled = await mustRun(process.execPath, [tsc, "--typeRoots", join(ROOT, "node_modules/@types")], several);
    expect(compiled.stdout).toBe("");
  });

  it("has no OAuth path, as its service.yaml says", { timeout: INSTALL_MS }, async () => {
    expect(readFileSync(join(preRegistered, "service.yaml"), "utf8")).not.toMatch(/^(service|enable_db):/m);
    const server = await built(preRegistered, { OAUTH_MODE: "pre-registered" });
    await expectServed(server.url);
    expect(await openPaths(server.url)).toEqual([]);
    expect(await whoami(`${server.url}/mcp`, await vendor.obtainToken())).toEqual(expect.any(String));
    await server.stop();
  });

  it(
    "under development gives a token of a practice user, with which a tool works",
    { timeout: INSTALL_MS },
    async () => {
      const server = await develop(preRegistered);
      try {
        await expect.poll(() => server.said()).toContain("Ctrl-C ends it");
        const [, token = ""] = /Authorization: Bearer ([^'\s]+)/.exec(server.said()) ?? [];
        expect(await whoami(server.endpoint, token)).toEqual(expect.any(String));
        // A new tool is a file, an import and a place in the list.
        const tool = readFileSync(join(preRegistered, "src/tools/whoami.ts"), "utf8").replaceAll("whoami", "hello");
        writeFileSync(join(preRegistered, "src/tools/hello.ts"), tool);
        const list = join(preRegistered, "src/tools/index.ts");
        const more = readFileSync(list, "utf8").replace("tools = [", "tools = [hello, ");
        writeFileSync(list, `import { hello } from "./hello.ts";\n${more}`);
        const tools = async (): Promise<string[]> => {
          const client = await connectClient(server.endpoint, token);
          const listed = await client.listTools();
          await client.close();
          return listed.tools.map(({ name }) => name);
        };
        await expect.poll(() => tools().catch(() => []), { interval: 200 }).toContain("hello");
      } finally {
        await server.stop();
      }
    },
  );
});

it("a folder with files in it is not written over", async () => {
  mkdirSync(join(desk, "full/inside"), { recursive: true });
  const env = { ...plainEnvironment(), NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
  const args = [COMMAND, "full", "--mode", "hosted", "--vendor", "github"];
  const { code, stderr } = await run(process.execPath, args, desk, env);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("full is not empty") });
});

async function whoami(endpoint: string, token: string): Promise<unknown> {
  const client = await connectClient(endpoint, token);
  try {
    return (await callTool(client, "whoami")).value["login"];
  } finally {
    await client.close();
  }
}

/**
 * Makes of the packed core its next release: the version in every package, a word in `/healthz`.
 *
 * @param packed of a project
 */
async function packNextRelease(packed: string, scratch: string, version: string): Promise<void> {
  for (const name of ["mcp-auth", "simulators"]) {
    const folder = join(scratch, name);
    mkdirSync(folder, { recursive: true });
    await mustRun("tar", ["-xzf", join(packed, `${name}.tgz`)], folder);
    for (const path of globSync("package/{,node_modules/@oauth-broker/*/}package.json", { cwd: folder })) {
      const manifest = JSON.parse(readFileSync(join(folder, path), "utf8")) as {
        readonly dependencies: Readonly<Record<string, string>>;
      };
      const dependencies = Object.entries(manifest.dependencies).map(([one, old]) => [
        one,
        one.startsWith("@oauth-broker/") ? version : old,
      ]);
      const next = { ...manifest, version, dependencies: Object.fromEntries(dependencies) };
      writeFileSync(join(folder, path), JSON.stringify(next));
    }
    if (name === "mcp-auth") markRelease(join(folder, "package/dist/app.js"), version);
    await mustRun("tar", ["-czf", join(packed, `${name}.tgz`), "package"], folder);
  }
}

function markRelease(app: string, version: string): void {
  const text = readFileSync(app, "utf8");
  const changed = text.replace('status: "ok",', `status: "ok", release: "${version}",`);
  if (changed === text) throw new Error("app.js has changed: there is no place to mark the release");
  writeFileSync(app, changed);
}
