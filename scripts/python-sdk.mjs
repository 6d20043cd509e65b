// `npm run test:mcp-python`: the official Python SDK, in the versions that are locked in
// e2e/support/mcp/python-sdk, signs in at a server and calls a tool. Opt-in: it needs Python 3.11 or
// newer, and pip brings each version into node_modules/.cache.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { bringPython, root, testE2e } from "./run.mjs";
import { runScript } from "./usage.mjs";

const ABOUT = {
  program: "npm run test:mcp-python",
  help: `Signs in at an MCP server with the official Python SDK, unmodified, in several versions. It needs Python 3.11
or newer, and pip installs each version, locked, into node_modules/.cache.`,
};

await runScript(ABOUT, () => {
  const locks = join(root, "e2e", "support", "mcp", "python-sdk");
  const versions = readdirSync(locks).flatMap((name) => /^requirements-(.+)\.txt$/.exec(name)?.slice(1) ?? []);
  const installed = {};
  for (const [index, version] of versions.entries()) {
    console.error(`mcp ${version} (${index + 1} of ${versions.length})`);
    installed[version] = bringPython(`python-mcp-${version}`, [join(locks, `requirements-${version}.txt`)]);
  }
  testE2e("scenarios/mcp-clients/python-sdk.test.ts", { PYTHON_WITH_MCP: JSON.stringify(installed) });
});
