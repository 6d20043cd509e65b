#!/usr/bin/env node
/** `mcp-dev`: a server under development, on a practice vendor. See run-dev.ts. */
import { environmentOfProcess } from "../config.ts";
import { runDev } from "./run-dev.ts";

const say = (text: string): void => void process.stderr.write(`${text}\n`);

if (process.argv.length > 2) {
  say("Usage: mcp-dev\nRuns src/main.ts with service.yaml's environment on a practice vendor, anew after each change.");
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await runDev({
      environment: environmentOfProcess(),
      print: (line) => void process.stdout.write(`${line}\n`),
      say,
    });
  } catch (error) {
    say(error instanceof Error ? error.message : "The server could not be started.");
    process.exitCode = 1;
  }
}
