// `npm run test:python`: the tests of examples/, on those in Python too. Opt-in: it needs Python
// 3.11 or newer, and pip brings Authlib, Flask and FastAPI into node_modules/.cache. The last lines are
// vitest's counts.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./run.mjs";
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

const environment = join(root, "node_modules", ".cache", "python-example");
const python = join(environment, "bin", "python");

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
