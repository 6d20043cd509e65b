#!/usr/bin/env node
/**
 * `token-store`: passes the command line and the signals in, and sets the exit code. cli/run.ts
 * does the rest.
 */
import { runCommandLine } from "./cli/run.ts";

const stop = new AbortController();
// Once: a second signal kills the process, which is safe too.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(signal));

process.exitCode = await runCommandLine(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stop.signal,
});
