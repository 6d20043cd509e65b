// `npm run test:python`: the tests of examples/, on those in Python too. Opt-in: it needs Python
// 3.11 or newer, and pip brings Authlib, Flask and FastAPI into node_modules/.cache. The last lines are
// vitest's counts.
import { join } from "node:path";
import { bringPython, root, run } from "./run.mjs";
import { readOptions } from "./usage.mjs";

readOptions({
  program: "npm run test:python",
  help: `Tests the examples, those in Python too: it needs Python 3.11 or newer, and pip installs Authlib, Flask and
FastAPI into node_modules/.cache.`,
});

const requirements = ["python-authlib", "python-fastapi"].map((name) => join("examples", name, "requirements.txt"));
run("vitest", ["run", "scenarios/delivery/examples.test.ts"], {
  cwd: join(root, "e2e"),
  env: { ...process.env, PYTHON_WITH_AUTHLIB: bringPython("python-example", requirements) },
});
