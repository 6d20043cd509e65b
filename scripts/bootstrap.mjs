// Runs a command of this repository on a machine that has only Node.js 20 or newer and npm:
// installs the pinned pnpm and the locked dependencies (including the pinned Node.js), then starts
// the command with both on PATH. Has no dependencies itself; every npm script goes through here.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, rmSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const shell = process.platform === "win32";
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const pin = manifest.packageManager.split("@")[1].split("+")[0];
const compiled = join(root, "node_modules", ".cache", "compiled");
// Node.js never empties it, and each copy of a file in a folder of its own is one more: 1 GB in days.
const { mtimeMs = Infinity } = statSync(compiled, { throwIfNoEntry: false }) ?? {};
if (Date.now() - mtimeMs > 2 * 86_400_000) rmSync(compiled, { recursive: true, force: true, maxRetries: 3 });
const env = {
  // What is started from source loads in half the time from the second start on.
  NODE_COMPILE_CACHE: compiled,
  ...process.env,
  TURBO_TELEMETRY_DISABLED: "1",
  npm_config_loglevel: "error",
  npm_config_prefer_offline: "true",
  npm_config_progress: "false",
};
const run = (command, args, stdio) => spawnSync(command, args, { cwd: root, env, stdio, encoding: "utf8", shell });

// 1. pnpm: the one on PATH when its major version is the pinned one, else the pinned one through
// npx.
const { stdout: version, error: missing } = run("pnpm", ["--version"]);
const found = missing === undefined ? version : "";
if (found.split(".")[0] !== pin.split(".")[0]) {
  const brought = run(
    "npx",
    ["--yes", "-p", `pnpm@${pin}`, "-c", "node -p process.env.PATH"],
    ["ignore", "pipe", "inherit"],
  );
  if (brought.status !== 0) {
    console.error(`Could not install pnpm ${pin}. Is the npm registry reachable? Try: npx --yes pnpm@${pin} --version`);
    process.exit(1);
  }
  env.PATH = brought.stdout.trim();
}

// 2. Locked dependencies. Prints nothing on success, and the whole report on failure.
const install = ["install", "--frozen-lockfile"];
if (run("pnpm", [...install, "--silent"], "inherit").status !== 0) {
  if (run("pnpm", install, "inherit").status !== 0) process.exit(1);
}
env.PATH = join(root, "node_modules", ".bin") + delimiter + env.PATH;

// 3. The command, with our signals and its exit code. npm ends only its own shell, so this ends
// when its parent does.
const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { cwd: root, env, stdio: "inherit", shell });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
const parent = process.ppid;
setInterval(() => process.ppid === parent || child.kill("SIGTERM"), 250).unref();
child.on("error", (error) => {
  console.error(`Could not start ${command}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
