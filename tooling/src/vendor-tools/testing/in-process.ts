/** The vendor tools without a process of their own: for the many ways in which words can be wrong. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { runVendor } from "../run.ts";
import type { Ended } from "./vendor-process.ts";

/** 2026-11-21T00:00:00Z */
export const NOW = 1_795_219_200;

export async function runInProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const said = { stdout: "", stderr: "" };
  const code = await runVendor(args, {
    now: fixedClock(NOW),
    env,
    print: (line) => void (said.stdout += `${line}\n`),
    tell: (line) => void (said.stderr += `${line}\n`),
  });
  return { code, ...said };
}
