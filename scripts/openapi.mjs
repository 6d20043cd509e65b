// The gate "API description" of `npm run check`: what the broker serves at /openapi.json, linted by
// Redocly's recommended rules. Sends nothing. docs/decisions/0001 says why this linter.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "../apps/broker/src/routes/openapi.ts";
import { root, run } from "./run.mjs";
import { runScript } from "./usage.mjs";

const ABOUT = { program: "node scripts/openapi.mjs", help: "Lints the description of the broker's API." };

await runScript(ABOUT, () => {
  const folder = join(root, "node_modules", ".cache", "openapi");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(openApiDocument("https://broker.acme.dev"), undefined, 2));
  // Browsers are redirected by these operations, and nothing is at the end of them.
  const flags = ["--extends=recommended", "--skip-rule=operation-2xx-response", "--format=stylish"];
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  run("redocly", ["lint", ...flags, "openapi.json"], { cwd: folder, env });
});
