/** What the vendor tools need of the world, so that their tests can give another one. */
import type { Clock } from "@oauth-broker/oauth-core";
import { createEgress, type Egress } from "@oauth-broker/oauth-core/egress";
import type { Ask } from "./terminal.ts";

export interface World {
  readonly now: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The command's result. */
  readonly print: (line: string) => void;
  /** What goes on meanwhile, and what to do next. */
  readonly tell: (line: string) => void;
  /** Absent where there is no terminal. */
  readonly ask?: Ask;
}

const TIMEOUT_MS = 10_000;

/** Runs `work` with connections of its own, which end with it. */
export async function withEgress<T>(allowLoopback: boolean, work: (egress: Egress) => Promise<T>): Promise<T> {
  const egress = createEgress({ allowLoopback, allowCidrs: [], timeoutMs: TIMEOUT_MS });
  try {
    return await work(egress);
  } finally {
    await egress.close();
  }
}
