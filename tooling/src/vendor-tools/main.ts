/**
 * Contributors' tools for vendors: `npm run vendor -- COMMAND`. They call real vendors; no service
 * needs them. options.ts reads the command line, run.ts runs it.
 */
import { systemClock } from "@oauth-broker/oauth-core";
import { runVendor } from "./run.ts";
import { createAsk } from "./terminal.ts";

process.exitCode = await runVendor(process.argv.slice(2), {
  now: systemClock,
  env: process.env,
  print: (line) => void process.stdout.write(`${line}\n`),
  tell: (line) => void process.stderr.write(`${line}\n`),
  ...(process.stdin.isTTY && process.stderr.isTTY ? { ask: createAsk(process.stdin, process.stderr) } : {}),
});
