/** A key service in memory whose calls are counted, and which waits or fails on request. */
import { type KeyWrapper, OAuthError } from "@oauth-broker/oauth-core";
import { TokenStoreError } from "../../errors.ts";

/** The error of a key service that does not respond. */
export const DOWN = new OAuthError("temporarily_unavailable", "down", { reason: "kms_unavailable" });

export interface CountingWrapper {
  readonly keys: KeyWrapper;
  readonly state: {
    /** The root new data keys are made under. */
    root: string;
    made: number;
    opened: number;
    /** Calls in progress. */
    now: number;
    peak: number;
    /** Thrown by every call while it is set. */
    failure: Error | undefined;
  };
  /** Calls wait until `release`. */
  hold(): void;
  release(): void;
}

/** Wraps by naming: `root/n` holds 32 bytes of n. */
export function countingWrapper(): CountingWrapper {
  const state: CountingWrapper["state"] = { root: "a", made: 0, opened: 0, now: 0, peak: 0, failure: undefined };
  let gate: Promise<void> | undefined;
  let openGate = (): void => {};
  const call = async <T>(work: () => T): Promise<T> => {
    state.now += 1;
    state.peak = Math.max(state.peak, state.now);
    try {
      await gate;
      await new Promise((resolve) => setImmediate(resolve));
      if (state.failure !== undefined) throw state.failure;
      return work();
    } finally {
      state.now -= 1;
    }
  };
  const keys: KeyWrapper = {
    newDataKey: () => {
      state.made += 1;
      const number = state.made;
      return call(() => ({ dataKey: Buffer.alloc(32, number), wrapped: `${state.root}/${number}` }));
    },
    unwrap: (wrapped) => {
      state.opened += 1;
      return call(() => {
        if (!/^\w\/\d+$/.test(wrapped)) throw new TokenStoreError("unreadable");
        return Buffer.alloc(32, Number(wrapped.split("/")[1]));
      });
    },
    isStale: (wrapped) => !wrapped.startsWith(`${state.root}/`),
  };
  return {
    keys,
    state,
    hold: () => {
      gate = new Promise((resolve) => {
        openGate = resolve;
      });
    },
    release: () => {
      openGate();
      gate = undefined;
    },
  };
}
