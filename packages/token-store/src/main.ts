#!/usr/bin/env node
/**
 * `token-store`: passes the command line and the signals in, and sets the exit code. cli/run.ts
 * does the rest.
 */
import { stoppable, terminalStreams } from "@oauth-broker/oauth-core/command-line";
import { runCommandLine } from "./cli/run.ts";

process.exitCode = await stoppable((signal) => runCommandLine(process.argv.slice(2), { ...terminalStreams(), signal }));
