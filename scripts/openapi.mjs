// The gate "API description" of `npm run check`: what the broker serves at /openapi.json, linted by
// Redocly's recommended rules. Sends nothing. docs/decisions/0001 says why this linter.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { openApiDocument } from "../apps/broker/src/routes/openapi.ts";

const folder = resolve(import.meta.dirname, "..", "node_modules", ".cache", "openapi");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "openapi.json"), JSON.stringify(openApiDocument("https://broker.acme.dev"), undefined, 2));

// Browsers are redirected by these operations, and nothing is at the end of them.
const flags = ["--extends=recommended", "--skip-rule=operation-2xx-response", "--format=stylish"];
const { status, error } = spawnSync("redocly", ["lint", ...flags, "openapi.json"], {
  cwd: folder,
  env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  stdio: "inherit",
  shell: process.platform === "win32",
});
if (error !== undefined) console.error(`redocly could not be started: ${error.message}`);
process.exit(status ?? 1);
