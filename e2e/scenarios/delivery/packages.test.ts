/**
 * The packages as a stranger gets them: their tarballs, installed with npm into empty projects, on
 * the Node.js versions they promise (docs/packages.md).
 */
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readmeBlock, volume } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { oldestNode } from "../../support/packages/node-20.ts";
import { IMPORT_ALL, makeTarballs, nodeOf, PACKAGES, tarballOf } from "../../support/packages/packages.ts";
import { ROOT } from "../../support/paths.ts";
import { mustRun, run } from "../../support/packages/scaffold.ts";

const INSTALL_MS = 180_000;
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
/** What undici, zod and the AWS SDK set when they are imported. */
const OF_OTHERS = /^globals: (?:Symbol\(undici\.|__zod_|awslambda$)/;
/** With the oldest Node.js of each; of broker-client that of ./direct. */
const OLDEST: Readonly<Record<string, string>> = {
  "broker-client": "22.19.0",
  "oauth-core": "22.19.0",
  service: "22.19.0",
  "token-store": "24.15.0",
  "mcp-auth": "24.15.0",
};
const LIBRARIES = Object.keys(OLDEST);
/** Building, packing and installing them takes a quarter minute of CPU. */
const WHEN = volume<readonly string[]>({ test: [], soak: ["as published"] });
const RESOLUTIONS = ["nodenext", "bundler"] as const;

let desk: string;
/** Of broker-client alone; of all libraries. */
let backend: string;
let project: string;

beforeAll(async () => {
  desk = mkdtempSync(join(tmpdir(), "oauth-broker-packages-"));
  [backend, project] = [join(desk, "backend"), join(desk, "project")];
  if (WHEN.length === 0) return;
  makeTarballs();
  await installIn(backend, ["broker-client"]);
  await installIn(project, LIBRARIES);
}, INSTALL_MS);
afterAll(() => rm(desk, { recursive: true, force: true }), INSTALL_MS);

interface Manifest {
  readonly name: string;
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** @param names of packages, all that the project depends on */
async function installIn(folder: string, names: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await mustRun("npm", ["install", "--no-audit", "--no-fund", ...names.map(tarballOf)], folder);
  cpSync(join(ROOT, "e2e/support/packages", IMPORT_ALL), join(folder, IMPORT_ALL));
}

const installed = (name: string): string => join(project, "node_modules/@oauth-broker", name);

function subpathsOf(name: string): string[] {
  const { exports, name: whole } = readManifest(installed(name));
  return Object.keys(exports)
    .filter((subpath) => subpath !== "./package.json")
    .map((subpath) => whole + subpath.slice(1));
}

/** @throws Error with what the compiler says */
async function expectTypes(folder: string, moduleResolution: "nodenext" | "bundler", files: readonly string[]) {
  const compilerOptions = {
    target: "es2024",
    lib: ["es2024"],
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules/@types")],
    module: moduleResolution === "bundler" ? "esnext" : "nodenext",
    moduleResolution,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  await mustRun(process.execPath, [TSC, "-p", "."], folder);
}

it("are all folders of packages/, and the libraries declare their oldest Node.js", () => {
  const folder = join(ROOT, "packages");
  expect(readdirSync(folder)).toEqual(PACKAGES);
  const { "broker-client": _, ...others } = OLDEST;
  for (const [name, oldest] of Object.entries(others)) {
    const [major, minor] = oldest.split(".");
    expect([name, readManifest(join(folder, name)).engines.node]).toEqual([name, `>=${major}.${minor}`]);
  }
});

describe.each(WHEN)("a tarball, %s", () => {
  let unpacked: string;
  beforeAll(async () => {
    unpacked = join(desk, "unpacked");
    for (const name of PACKAGES) await unpack(name, join(unpacked, name));
  });

  it.each(PACKAGES)("of %s has a README whose links lead to its own files, the licence, and no tests", (name) => {
    const folder = join(unpacked, name);
    const files = globSync("**/*", { cwd: folder });
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
    expect(
      files.filter((path) => /\.test\.|(^|\/)testing\/|tsbuildinfo/.test(path) && !path.includes("template/")),
    ).toEqual([]);
    const links = [...readFileSync(join(folder, "README.md"), "utf8").matchAll(/\]\((?!https:|#)([^)#]+)/g)];
    expect(links.map(([, path = ""]) => path).filter((path) => !files.includes(path))).toEqual([]);
  });

  it.each(PACKAGES.filter((name) => name !== "create-server"))(
    "of %s has the source of every map, and imports only what it declares",
    (name) => {
      const folder = join(unpacked, name);
      const { name: self, dependencies = {}, peerDependencies = {} } = readManifest(folder);
      const maps = globSync("dist/**/*.map", { cwd: folder });
      expect(maps.length).toBeGreaterThan(20);
      const missing = maps.flatMap((path) => {
        const { sources } = JSON.parse(readFileSync(join(folder, path), "utf8")) as { readonly sources: string[] };
        return sources.filter((source) => globSync(join(dirname(path), source), { cwd: folder }).length === 0);
      });
      expect(missing).toEqual([]);
      const imported = globSync("dist/**/*.{js,d.ts}", { cwd: folder }).flatMap((path) =>
        [...readFileSync(join(folder, path), "utf8").matchAll(/\b(?:from|import\() ?"([a-z@][\w@./:-]*)"/g)].map(
          ([, specifier = ""]) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier,
        ),
      );
      const declared = [self, ...Object.keys(dependencies), ...Object.keys(peerDependencies)];
      const undeclared = imported.filter(
        (specifier) => !specifier.startsWith("node:") && !declared.includes(specifier),
      );
      expect([...new Set(undeclared)]).toEqual([]);
    },
  );
});

describe.each(WHEN)("broker-client alone, %s", () => {
  it("brings jose and oauth4webapi, and nothing else", () => {
    const packages = globSync("node_modules/{@*/*,[!@.]*}/package.json", { cwd: backend });
    expect(packages.map((path) => dirname(path).slice("node_modules/".length)).sort()).toEqual([
      "@oauth-broker/broker-client",
      "jose",
      "oauth4webapi",
    ]);
  });

  it(`loads on Node.js ${oldestNode().version} and 22.19.0, also by require()`, async () => {
    for (const node of [oldestNode().path, await nodeOf("22.19.0")]) {
      const { stdout } = await mustRun(node, [IMPORT_ALL, "@oauth-broker/broker-client"], backend);
      expect(JSON.parse(stdout)).toEqual([]);
      const required = `process.stdout.write(typeof require("@oauth-broker/broker-client").createBrokerClient)`;
      expect(await mustRun(node, ["--input-type=commonjs", "--eval", required], backend)).toMatchObject({
        stdout: "function",
      });
    }
  });

  it("has types without oauth-core, and says what ./direct lacks", async () => {
    writeFileSync(join(backend, "backend.ts"), BACKEND);
    for (const resolution of RESOLUTIONS) await expectTypes(backend, resolution, ["backend.ts"]);
    const { stderr } = await run(process.execPath, [IMPORT_ALL, "@oauth-broker/broker-client/direct"], backend);
    expect(stderr).toContain("Cannot find package '@oauth-broker/oauth-core'");
  });
});

describe.each(WHEN)("all libraries in one project, %s", () => {
  it.each(["22.19.0", "24.15.0", process.versions.node])(
    "load on Node.js %s, every subpath, and change nothing in the process",
    async (version) => {
      const specifiers = LIBRARIES.filter((name) => (OLDEST[name] ?? "") <= version).flatMap(subpathsOf);
      expect(specifiers).toHaveLength(version === "22.19.0" ? 19 : 28);
      const { stdout, stderr } = await mustRun(await nodeOf(version), [IMPORT_ALL, ...specifiers], project);
      const changes = (JSON.parse(stdout) as string[]).filter((change) => !OF_OTHERS.test(change));
      expect({ changes, stderr }).toEqual({ changes: [], stderr: "" });
    },
  );

  it("have types without skipLibCheck, every subpath and the programs of their READMEs", async () => {
    const programs = LIBRARIES.map((name) => {
      const text = name === "broker-client" ? DIRECT : readmeBlock(join(ROOT, "packages", name), "ts");
      writeFileSync(join(project, `${name}.ts`), text);
      return `${name}.ts`;
    });
    const every = LIBRARIES.flatMap(subpathsOf).map((specifier, at) => `export * as n${at} from "${specifier}";`);
    writeFileSync(join(project, "every.ts"), every.join("\n"));
    for (const resolution of RESOLUTIONS) await expectTypes(project, resolution, [...programs, "every.ts"]);
  });

  it.each(["oauth-core", "service", "token-store"])(
    "run: the program in the README of %s, on its oldest Node.js",
    async (name) => {
      const text = readmeBlock(join(ROOT, "packages", name), "ts");
      writeFileSync(join(project, "readme.ts"), text);
      const node = await nodeOf(OLDEST[name] ?? "");
      const { stdout } = await mustRun(node, ["readme.ts"], project, { DATA_DIR: join(desk, "data") });
      const promised = [...text.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, line = ""]) => `${line}\n`);
      expect(stdout).toBe(promised.join(""));
    },
  );

  it("scan SQLite to its end after a key with U+0000", async () => {
    writeFileSync(join(project, "keys.ts"), KEYS);
    const node = await nodeOf(OLDEST["token-store"] ?? "");
    const { stdout } = await mustRun(node, ["keys.ts", join(desk, "keys.sqlite")], project);
    expect(JSON.parse(stdout)).toEqual(["a", "a\0b", "b"]);
  });
});

async function unpack(name: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await mustRun("tar", ["-xzf", tarballOf(name), "--strip-components=1"], folder);
}

const BACKEND = `
import { BrokerClientError, createBrokerClient, type Session, type Tokens } from "@oauth-broker/broker-client";

const broker = createBrokerClient({
  issuer: "https://broker.example.com",
  clientId: "platform",
  clientSecret: "secret",
  redirectUri: "https://platform.example/oauth/vendor-callback",
});
const pending = new Map<string, Session>();

export async function connect(): Promise<string> {
  const { url, session } = await broker.start({ vendor: "github", scope: "repo" });
  pending.set(session.state, session);
  return url;
}

export async function finish(callback: URL): Promise<Tokens | string> {
  try {
    return await broker.finish(callback.href, pending.get(callback.searchParams.get("state") ?? ""));
  } catch (error) {
    if (error instanceof BrokerClientError) return error.details.reason ?? error.code;
    throw error;
  }
}

export async function refresh({ refreshToken, connection }: Tokens): Promise<string | undefined> {
  const refreshed = await broker.refresh({ refreshToken, connection });
  return refreshed.outcome === "ok" ? refreshed.tokens.accessToken : refreshed.error?.code;
}
`;

const DIRECT = `
import { direct } from "@oauth-broker/broker-client/direct";

export const github = direct({
  vendor: "github",
  credentials: { clientId: "id", clientSecret: "secret" },
  redirectUri: "https://deployment.example/oauth/callback/github",
});
`;

const KEYS = `
import { sqliteTokenRows } from "@oauth-broker/token-store/sqlite";

const rows = sqliteTokenRows({ path: process.argv[2] ?? "" });
for (const sk of ["b", "a\\0b", "a"]) await rows.change({ pk: "p", sk }, { set: { at: sk } }, {});
const found: string[] = [];
let cursor: string | undefined;
do {
  const page = await rows.scan({ limit: 1, ...(cursor === undefined ? {} : { cursor }) });
  found.push(...page.rows.map(({ key }) => key.sk));
  cursor = page.cursor;
} while (cursor !== undefined && found.length < 9);
console.log(JSON.stringify(found));
await rows.close();
`;
