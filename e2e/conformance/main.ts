/**
 * Runs the conformance suite by hand, e.g. `npm run conformance -- server --scenario caching
 * --spec-version 2026-07-28`: starts the fixture, gives the suite its `--url`, or for `client` our
 * client; prints its output and ends with its exit code.
 */
import { buildPrograms } from "../support/setup/built-services.ts";
import { freePort } from "../support/free-port.ts";
import { CLIENT_ID, openHarness } from "./harness.ts";
import { runClientSuite, runSuite } from "./suite.ts";

const [command = "server", ...options] = process.argv.slice(2);
if (command === "client") buildPrograms();
const { exitCode, output } = command === "client" ? await runClientSuite(...options) : await againstFixture();
process.stdout.write(output);
process.exitCode = exitCode ?? 1;

async function againstFixture(): ReturnType<typeof runSuite> {
  const harness = await openHarness();
  try {
    const where =
      command === "authorization"
        ? [harness.url, "--client-id", CLIENT_ID, "--resource", `${harness.url}/mcp`, "-p", String(await freePort())]
        : [`${harness.url}/mcp`];
    return await runSuite(command, "--url", ...where, ...options);
  } finally {
    await harness.close();
  }
}
