/**
 * `npm run dev`, in a copy of the services and packages: what is saved is running a moment later, at the same
 * addresses; a file that is not valid in the meantime ends nothing; Ctrl-C ends everything.
 */
import { patience } from "@oauth-broker/oauth-core/testing";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { copyRepository, type WorkingCopy } from "../mutate/working-copy.ts";
import { ROOT } from "../sources.ts";

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const PORT = 14_900 + (process.pid % 90);
const FILE = "packages/service/src/http/error-page.ts";
const BOOTSTRAP = "node scripts/bootstrap.mjs ";

let copy: WorkingCopy;
let dev: ChildProcess;
let output = "";

beforeAll(() => {
  copy = copyRepository(ROOT, ["apps", "packages", "package.json"]);
  const manifest = JSON.parse(copy.read("package.json")) as Manifest;
  // A group of its own: a terminal sends Ctrl-C to all processes of a command.
  dev = spawn((manifest.scripts["dev"] ?? "").replace(BOOTSTRAP, ""), {
    shell: true,
    detached: true,
    cwd: copy.root,
    // Vitest sets BASE_URL, which is a variable of the broker too.
    env: { ...process.env, BASE_URL: undefined, PORT: String(PORT) },
  });
  for (const stream of [dev.stdout, dev.stderr]) stream?.on("data", (text: Buffer) => (output += text.toString()));
});

afterAll(() => {
  if (dev.exitCode === null && dev.signalCode === null) process.kill(-(dev.pid ?? 0), "SIGKILL");
  copy.remove();
});

/** Every process that listened so far. */
const starts = (): string[] => output.match(/"event":"listening".*"pid":\d+/g) ?? [];
const redirectUri = (): unknown => {
  const text = readFileSync(join(copy.root, "data/sandbox-client.json"), "utf8");
  return (JSON.parse(text) as { readonly redirect_uris: readonly unknown[] }).redirect_uris[0];
};
const isUp = async (): Promise<boolean> => {
  const response = await fetch(`http://127.0.0.1:${PORT}/readyz`).catch(() => undefined);
  return response?.status === 200;
};

it("restarts the sandbox at the same addresses, outlives invalid files, ends by Ctrl-C", async () => {
  await expect.poll(starts, { timeout: patience(6_000) }).toHaveLength(1);
  const first = redirectUri();
  const text = copy.read(FILE);

  copy.write(FILE, `${text}\nconst = ;\n`);
  await expect.poll(() => output, { timeout: patience(6_000) }).toContain("Waiting for file changes");
  await expect.poll(isUp, { timeout: patience(6_000) }).toBe(false);
  expect(dev.exitCode).toBeNull();

  copy.write(FILE, text);
  // A watcher that sees one save as two starts it twice.
  await expect.poll(() => starts().length, { timeout: patience(6_000) }).toBeGreaterThan(1);
  await expect.poll(isUp, { timeout: patience(6_000) }).toBe(true);
  expect(redirectUri()).toBe(first);

  const ended = once(dev, "exit");
  process.kill(-(dev.pid ?? 0), "SIGINT");
  await ended;
  await expect.poll(isUp).toBe(false);
  // No process of the group is left.
  await expect.poll(() => isGroupAlive(dev.pid)).toBe(false);
});

it("watches the sources of everything that the sandbox imports", () => {
  const read = (folder: string): Manifest => JSON.parse(copy.read(`${folder}/package.json`)) as Manifest;
  const folderOf = (name: string): string =>
    name.replace("@oauth-broker/", name.endsWith("/platform") ? "apps/" : "packages/");
  // The sandbox is for development: what only it needs is a development dependency of the broker.
  const ours = ({ dependencies, devDependencies }: Manifest): string[] =>
    Object.keys({ ...dependencies, ...devDependencies }).filter((name) => name.startsWith("@oauth-broker/"));
  const folders = new Set(["apps/broker"]);
  // The loop also visits what it adds.
  for (const folder of folders) {
    for (const name of ours(read(folder))) folders.add(folderOf(name));
  }
  const { dev: command = "" } = read(".").scripts;
  const watched = [...command.matchAll(/--watch-path=(\S+)\/src/g)].map(([, folder]) => folder);
  expect(new Set(watched)).toEqual(folders);
});

function isGroupAlive(leader: number | undefined): boolean {
  try {
    return process.kill(-(leader ?? 0), 0);
  } catch {
    return false;
  }
}
