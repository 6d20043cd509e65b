// `npm run test:python`: the tests of examples/, on those in Python too. Opt-in: it needs Python
// 3.11 or newer, and pip brings Authlib, Flask and FastAPI into node_modules/.cache. The last lines are
// vitest's counts.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readOptions } from "./usage.mjs";

readOptions(
  {},
  {
    program: "npm run test:python --",
    help: `Usage: npm run test:python

Tests the examples, those in Python too: it needs Python 3.11 or newer, and pip installs Authlib, Flask and
FastAPI into node_modules/.cache.

  -h, --help       this text
  -v, --version    the version`,
  },
);

const root = fileURLToPath(new URL("..", import.meta.url));
const environment = join(root, "node_modules", ".cache", "python-example");
const python = join(environment, "bin", "python");

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (status === 0) return;
  console.error(
    `Not tested: ${[command, ...args].join(" ")} failed${error === undefined ? "" : `: ${error.message}`}.`,
  );
  process.exit(1);
}

if (!existsSync(python)) run("python3", ["-m", "venv", environment]);
const requirements = ["python-authlib", "python-fastapi"].flatMap((name) => [
  "--requirement",
  join("examples", name, "requirements.txt"),
]);
run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...requirements]);
run("vitest", ["run", "scenarios/delivery/examples.test.ts"], {
  cwd: join(root, "e2e"),
  env: { ...process.env, PYTHON_WITH_AUTHLIB: python },
});
