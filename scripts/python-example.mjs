// `npm run test:python`: the tests of examples/, on those in Python too. Opt-in: it needs Python
// 3.11 or newer, and pip brings Authlib, Flask and FastAPI into node_modules/.cache.
import { join } from "node:path";
import { bringPython, testE2e } from "./run.mjs";
import { runScript } from "./usage.mjs";

const ABOUT = {
  program: "npm run test:python",
  help: `Tests the examples, those in Python too: it needs Python 3.11 or newer, and pip installs Authlib, Flask and
FastAPI into node_modules/.cache.`,
};

await runScript(ABOUT, () => {
  const requirements = ["python-authlib", "python-fastapi"].map((name) => join("examples", name, "requirements.txt"));
  const PYTHON_WITH_AUTHLIB = bringPython("python-example", requirements);
  testE2e("scenarios/delivery/examples.test.ts", { PYTHON_WITH_AUTHLIB });
});
