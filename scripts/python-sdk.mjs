// `npm run test:mcp-python`: the official Python SDK, in the versions that are locked in
// e2e/support/mcp/python-sdk, signs in at a server and calls a tool. Opt-in: it needs Python 3.11 or
// newer, and pip brings each version into node_modules/.cache. The last lines are vitest's counts.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { bringPython, root, run } from "./run.mjs";
import { readOptions } from "./usage.mjs";

readOptions({
  program: "npm run test:mcp-python",
  help: `Signs in at an MCP server with the official Python SDK, unmodified, in several versions. It needs Python 3.11
or newer, and pip installs each version, locked, into node_modules/.cache.`,
});

const locks = join(root, "e2e", "support", "mcp", "python-sdk");

const versions = readdirSync(locks).flatMap((name) => /^requirements-(.+)\.txt$/.exec(name)?.slice(1) ?? []);
const installed = {};
for (const [index, version] of versions.entries()) {
  console.error(`mcp ${version} (${index + 1} of ${versions.length})`);
  installed[version] = bringPython(`python-mcp-${version}`, [join(locks, `requirements-${version}.txt`)]);
}
run("vitest", ["run", "scenarios/mcp-clients/python-sdk.test.ts"], {
  cwd: join(root, "e2e"),
  env: { ...process.env, PYTHON_WITH_MCP: JSON.stringify(installed) },
});
