/** An operator's command in this process, with what it printed. */
import { vi } from "vitest";
import type { Command } from "../cli/command-line.ts";
import { runOperatorCommand } from "../cli/operator.ts";
import type { Config } from "../config.ts";

export type OperatorCommand = Exclude<Command, { name: "serve" }>;

/** What a terminal shows. */
export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runOn(load: () => Config, command: OperatorCommand): Promise<Printed> {
  const write = { stdout: vi.spyOn(process.stdout, "write"), stderr: vi.spyOn(process.stderr, "write") };
  for (const spy of Object.values(write)) spy.mockReturnValue(true);
  const text = (spy: (typeof write)["stdout"]): string => spy.mock.calls.map(([chunk]) => String(chunk)).join("");
  try {
    const code = await runOperatorCommand(command, load);
    return { code, stdout: text(write.stdout), stderr: text(write.stderr) };
  } finally {
    for (const spy of Object.values(write)) spy.mockRestore();
  }
}
