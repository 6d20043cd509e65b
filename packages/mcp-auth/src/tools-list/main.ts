#!/usr/bin/env node
/** `mcp-tools [--check]`: writes src/tools/index.ts, or says whether it is right. dev, test and build of a server run it first. */
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
    return tell(writeToolsList(folder, { check }), folder);
  } catch (error) {
    say(error instanceof Error ? error.message : "The list could not be written.");
    return 1;
  }
}

function tell(state: ListState, folder: string): number {
  const list = join(folder, "index.ts");
  if (state === "outdated") say(`${list} is not what the files beside it say: run mcp-tools`);
  if (state === "written") say(`${list} is written anew`);
  return state === "outdated" ? 1 : 0;
}

process.exitCode = run();
