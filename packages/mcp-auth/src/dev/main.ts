#!/usr/bin/env node
/** `mcp-dev`: a server under development, on a practice vendor. See run-dev.ts. */

const OLDEST_NODE = [24, 15] as const;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function main(): Promise<number> {
  if (process.argv.length > 2) {
    say(
      "Usage: mcp-dev\nRuns src/main.ts with service.yaml's environment on a practice vendor, again after each change.",
    );
    return 2;
  }
  if (isTooOld(process.versions.node)) {
    say(
      `mcp-dev needs Node.js ${OLDEST_NODE.join(".")} or newer, and this is ${process.versions.node}: install one from nodejs.org or with a version manager (nvm install ${OLDEST_NODE[0]}), and run npm run dev again.`,
    );
    return 1;
  }
  // Imported only now: these modules do not load on an old Node.js.
  const [{ environmentOfProcess }, { runDev }] = await Promise.all([import("../config.ts"), import("./run-dev.ts")]);
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  return runDev({ environment: environmentOfProcess(), print, say });
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
