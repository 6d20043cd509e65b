/** The input and output of the vendor tools, which tests replace. */
import type { Clock } from "@oauth-broker/oauth-core";
import { createEgress, type Egress } from "@oauth-broker/oauth-core/egress";
import type { Ask } from "./terminal.ts";

export interface Environment {
  readonly now: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints the result of the command. */
  readonly print: (line: string) => void;
  /** Prints progress, and what to do next. */
  readonly tell: (line: string) => void;
  /** Absent without a terminal. */
  readonly ask?: Ask;
}

const TIMEOUT_MS = 10_000;

/** Runs `work` with its own connections, which are closed afterwards. */
export async function withEgress<T>(allowLoopback: boolean, work: (egress: Egress) => Promise<T>): Promise<T> {
  const egress = createEgress({ allowLoopback, allowCidrs: [], timeoutMs: TIMEOUT_MS });
  try {
    return await work(egress);
  } finally {
    await egress.close();
  }
}
