/**
 * Runs the conformance suite by hand, e.g. `npm run conformance -- server --scenario caching
 * --spec-version 2026-07-28`: starts the fixture, gives the suite its `--url`, or for `client` our
 * client; prints its output and ends with its exit code.
 */
import { readProgram } from "../support/program.ts";
import { freePort } from "../support/free-port.ts";
import { CLIENT_ID, openHarness } from "./harness.ts";
import { runClientSuite, runSuite } from "./suite.ts";

const HELP = `Usage: npm run conformance -- [server | authorization | client] [OPTIONS of the suite]

Runs the MCP conformance suite against our server, its authorization server, or our client. docs/conformance.md has the results.

  -h, --help       this text
  -v, --version    the version`;
const COMMANDS = ["server", "authorization", "client"] as const;

const [first = "server", ...options] = process.argv.slice(2);
// What follows the command is the suite's own.
const about = { program: "npm run conformance --", help: HELP, commands: COMMANDS };
const command = readProgram({}, about, ({ words: [word] }) => COMMANDS.find((name) => name === word), [first]);
if (command !== undefined) {
  const run = command === "client" ? runClientSuite(...options) : againstFixture(command);
  const { exitCode, output } = await run;
  process.stdout.write(output);
  process.exitCode = exitCode ?? 1;
}

async function againstFixture(command: string): ReturnType<typeof runSuite> {
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
