/**
 * The README's four doors: its commands, read from the README itself, in order and in one clone. In
 * `npm test` what they name has to be there, and a copied example has to be one that its own
 * TypeScript reads; `npm run test:doors` types them all.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ROOT } from "../../support/paths.ts";
import { temporaryFolder } from "../../support/service-process.ts";

interface Door {
  readonly title: string;
  /** Without their comments. */
  readonly commands: readonly string[];
}

const README = readFileSync(join(ROOT, "README.md"), "utf8");
const DOORS: readonly Door[] = [
  ...(README.split("## Four doors")[1] ?? "")
    .split("\n## ")[0]!
    .matchAll(/\*\*([^*]+)\*\*[^`]*?(?:`[^`]+`[^`]*?)*```sh\n([\s\S]*?)```/g),
].map(([, title = "", block = ""]) => ({
  title,
  commands: block
    .split("\n")
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter((line) => line !== ""),
}));
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

it("are four, and begin with npm start", () => {
  expect(DOORS.map(({ title }) => title)).toEqual([
    "A platform's backend",
    "An MCP server",
    "The operator",
    "A contributor",
  ]);
  expect(DOORS[0]?.commands[0]).toBe("npm start");
  expect(scripts["start"]).toMatch(/main\.ts --sandbox$/);
  expect(scripts["broker"]).toMatch(/main\.ts$/);
});

it.each(DOORS)("$title: every script and path of it is there", ({ commands }) => {
  const text = commands.join("\n");
  const own = [...text.matchAll(/npm (?:run )?([a-z][a-z:-]*)/g)].map(([, name = ""]) => name);
  const npms = ["install"];
  expect(own.filter((name) => scripts[name] === undefined && !npms.includes(name))).toEqual([]);
  const paths = [...text.matchAll(/(?:^|\s)((?:apps|examples)\/[\w./-]+)/gm)].map(([, path = ""]) => path);
  // What a build makes.
  expect(paths.filter((path) => !path.includes("/dist/") && !existsSync(join(ROOT, path)))).toEqual([]);
});

it("broker.yaml is the operator's: git does not see it", () => {
  const { status } = spawnSync("git", ["check-ignore", "-q", "broker.yaml"], { cwd: ROOT });
  expect(status).toBe(0);
});

describe("a copied example (#29)", () => {
  it.each(["express", "fastify", "hono"])("%s has all that its types need", (name) => {
    const folder = temporaryFolder();
    const from = join(ROOT, "examples", name);
    for (const file of ["main.ts", "package.json", "tsconfig.json"]) cpSync(join(from, file), join(folder, file));
    symlinkSync(join(from, "node_modules"), join(folder, "node_modules"));
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    expect(manifest.devDependencies["typescript"]).toBeDefined();
    const tsc = join(folder, "node_modules", "typescript", "bin", "tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", "."], { cwd: folder, encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  });
});

/** They serve until they are stopped; each says so by one of these. */
const SERVES = /(?:npm start|npm run dev|dist\/main\.js)$/;
const IS_UP = /"url":|Open\s+http|listens at|listening at/;
/** Take many minutes and are tested elsewhere: here it is enough that they start. */
const LONG = /^npm (?:run (?:drill|check)|test -- )/;
const WITHIN_MS = 900_000;

describe.each(process.env["TYPE_THE_DOORS"] === undefined ? [] : ["in one clone"])("all doors, %s", () => {
  const started: ChildProcess[] = [];
  const parent = mkdtempSync(join(tmpdir(), "oauth-broker-doors-"));
  afterAll(async () => {
    started.forEach(stop);
    await rm(parent, { recursive: true, force: true });
  }, WITHIN_MS);

  it("open one after the other", { timeout: 3_600_000 }, async () => {
    const clone = join(parent, "clone");
    copyWorkingTree(clone);
    let variables = "";
    for (const { commands } of DOORS) {
      let folder = clone;
      const servers: ChildProcess[] = [];
      for (const command of commands) {
        if (command.startsWith("export ")) {
          variables += `${command}\n`;
          continue;
        }
        const line = command.replace(/\bWORD$/, "git");
        const run = LONG.test(line) ? `${line} ${line.includes(" -- ") ? "" : "-- "}--help` : line;
        const { child, said, left } = await typed(`${variables}${run}`, folder, SERVES.test(line));
        started.push(child);
        expect([line, child.signalCode]).toEqual([line, null]);
        if (child.exitCode === null) servers.push(child);
        else expect([line, child.exitCode, child.exitCode === 0 ? "" : said()]).toEqual([line, 0, ""]);
        // As the reader's own terminal would be.
        if (/\bcd [^&]+/.test(line)) folder = left(folder, line);
      }
      // The reader uses another terminal for what follows, and Ctrl-C at the end of the door.
      for (const child of servers.toReversed()) await stopped(child);
    }
  });
});

/** What git has of this working tree, with what is not committed yet. */
function copyWorkingTree(to: string): void {
  const { stdout } = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  for (const path of stdout.split("\0").filter((one) => one !== "" && existsSync(join(ROOT, one)))) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(ROOT, path), join(to, path));
  }
  spawnSync("git", ["init", "-q"], { cwd: to });
}

/** Of a reader's terminal: without the variables of the tests, BASE_URL among them. */
const TERMINAL = Object.fromEntries(
  ["PATH", "HOME", "NODE_COMPILE_CACHE", ...Object.keys(process.env).filter((name) => /^npm_config_/i.test(name))].map(
    (name) => [name, process.env[name]],
  ),
);

/** Until it ends, or says that it serves. */
async function typed(script: string, folder: string, serves: boolean) {
  const child = spawn("bash", ["-e", "-c", script], {
    cwd: folder,
    env: TERMINAL,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const up = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (serves && IS_UP.test(text)) up.resolve();
    });
  }
  const timer = setTimeout(() => stop(child), WITHIN_MS);
  await Promise.race([once(child, "close"), up.promise]);
  clearTimeout(timer);
  const left = (from: string, line: string): string => join(from, /\bcd (\S+)/.exec(line)?.[1] ?? ".");
  return { child, said: () => text, left };
}

function stop(child: ChildProcess): void {
  try {
    // The whole group: a shell passes no signal on.
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), "SIGTERM");
  } catch {
    // It has ended.
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  stop(child);
  if (child.exitCode === null && child.signalCode === null) await ended;
}
