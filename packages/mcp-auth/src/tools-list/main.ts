#!/usr/bin/env node
/**
 * `mcp-tools [--check]`: writes src/tools/index.ts, or checks it. dev, test and build of a server
 * run it first.
 */
import { join } from "node:path";
import { type ListState, writeToolsList } from "./write-list.ts";

const args = process.argv.slice(2);
const say = (text: string): void => void process.stderr.write(`${text}\n`);

function run(): number {
  const folder = join("src", "tools");
  const check = args[0] === "--check";
  if (args.length > (check ? 1 : 0)) {
    say("Usage: mcp-tools [--check]\nWrites src/tools/index.ts from the files beside it; --check writes nothing.");
    return 2;
  }
  try {
    return report(writeToolsList(folder, { check }), folder);
  } catch (error) {
    say(error instanceof Error ? error.message : "The list could not be written.");
    return 1;
  }
}

function report(state: ListState, folder: string): number {
  const list = join(folder, "index.ts");
  if (state === "outdated") say(`${list} does not match the files beside it: run mcp-tools`);
  if (state === "written") say(`${list} has been updated`);
  return state === "outdated" ? 1 : 0;
}

process.exitCode = run();
