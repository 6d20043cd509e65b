/**
 * The vendor tools inside the test process: for the many invalid command lines, and for a user at
 * the terminal.
 */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { expect } from "vitest";
import type { Environment } from "../environment.ts";
import { runVendor } from "../run.ts";
import type { Ask } from "../terminal.ts";
import type { Ended } from "./vendor-process.ts";

/** 2026-11-21T00:00:00Z */
export const NOW = 1_795_219_200;

export interface InProcess {
  readonly env?: Readonly<Record<string, string>>;
  readonly ask?: Ask;
  readonly now?: Environment["now"];
  /** Receives each line of stderr. */
  readonly onTell?: (line: string) => void;
}

export async function runInProcess(
  args: readonly string[],
  { env = {}, ask, now = fixedClock(NOW), onTell = () => {} }: InProcess = {},
): Promise<Ended> {
  const said = { stdout: "", stderr: "" };
  const code = await runVendor(args, {
    now,
    env,
    print: (line) => void (said.stdout += `${line}\n`),
    tell: (line) => {
      said.stderr += `${line}\n`;
      onTell(line);
    },
    ...(ask === undefined ? {} : { ask }),
  });
  return { code, ...said };
}

/** Each of these command lines is refused with its sentence, and nothing is done. */
export async function expectRefused(wrong: readonly (readonly [args: readonly string[], sentence: string])[]) {
  for (const [args, sentence] of wrong) {
    const { code, stdout, stderr } = await runInProcess(args);
    expect(stderr).toContain(sentence);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  }
}
