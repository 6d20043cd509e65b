/**
 * Contributors' tools for vendors: `npm run vendor -- COMMAND`. They call real vendors; no service
 * needs them. options.ts reads the command line, run.ts runs it.
 */
import { systemClock } from "@oauth-broker/oauth-core";
import { TERMINAL } from "@oauth-broker/oauth-core/command-line";
import { runVendor } from "./run.ts";
import { createAsk } from "./terminal.ts";

process.exitCode = await runVendor(process.argv.slice(2), {
  now: systemClock,
  env: process.env,
  print: TERMINAL.print,
  tell: TERMINAL.say,
  ...(process.stdin.isTTY && process.stderr.isTTY ? { ask: createAsk(process.stdin, process.stderr) } : {}),
});
