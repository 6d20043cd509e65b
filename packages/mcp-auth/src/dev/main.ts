#!/usr/bin/env node
/** `mcp-dev`: a server under development, on a practice vendor. See run-dev.ts. */
import manifest from "../../package.json" with { type: "json" };

const HELP = `Usage: mcp-dev

Runs src/main.ts with service.yaml's environment on a practice vendor, again after each change.

Options
  -h, --help           this text
  -v, --version        the version

Exit codes: 0 stopped, 1 it could not be started, 2 the command line is not usable.`;

const OLDEST_NODE = [24, 15] as const;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function main(): Promise<number> {
  if (isTooOld(process.versions.node)) {
    say(
      `mcp-dev needs Node.js ${OLDEST_NODE.join(".")} or newer, and this is ${process.versions.node}: install one from nodejs.org or with a version manager (nvm install ${OLDEST_NODE[0]}), and run npm run dev again.`,
    );
    return 1;
  }
  // Imported only now: these modules do not load on an old Node.js.
  const { answerUsage, readCommand, TERMINAL } = await import("@oauth-broker/oauth-core/command-line");
  const about = { program: "mcp-dev", help: HELP, version: manifest.version };
  const read = readCommand(process.argv.slice(2), {}, about, (given) => given);
  if ("exitCode" in read) return answerUsage(read);
  const [{ environmentOfProcess }, { runDev }] = await Promise.all([import("../config.ts"), import("./run-dev.ts")]);
  return runDev(environmentOfProcess(), TERMINAL);
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
}

try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof Error ? error.message : "The server could not be started.");
  process.exitCode = 1;
}
