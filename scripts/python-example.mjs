// `npm run test:python`: the tests of examples/, on the one in Python too. Opt-in: it needs Python
// 3.11 or newer, and pip brings Authlib and Flask into node_modules/.cache. The last lines are
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

Tests the examples, the one in Python too: it needs Python 3.11 or newer, and pip installs Authlib and Flask
into node_modules/.cache.

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
const requirements = join("examples", "python-authlib", "requirements.txt");
run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements]);
run("vitest", ["run", "scenarios/delivery/examples.test.ts"], {
  cwd: join(root, "e2e"),
  env: { ...process.env, PYTHON_WITH_AUTHLIB: python },
});
