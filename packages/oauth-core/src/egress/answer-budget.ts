/**
 * Bounds the bytes of answers that the process holds: while they arrive, and until the request they
 * were fetched for has ended. Each call and each origin has its own bounds, and a client may name
 * many origins.
 */
import { atEndOfCaller, callerName } from "./share.ts";

const MIB = 1024 * 1024;

/** In bytes. */
export interface AnswerBounds {
  /** The limit for all callers together. */
  readonly ofProcess: number;
  /** The limit for one named caller. */
  readonly ofCaller: number;
}

/** 256 whole answers of the default size, and 64 of one client. */
export const ANSWER_BOUNDS: AnswerBounds = { ofProcess: 64 * MIB, ofCaller: 16 * MIB };

/** What one call holds. */
export interface HeldAnswer {
  /** @returns false if so many more bytes do not fit */
  grow(bytes: number): boolean;
  /** The call has ended; its answer is held for as long as the request it was made for. */
  done(): void;
}

//= bar#ST-8
export function createAnswerBudget({ ofProcess, ofCaller }: AnswerBounds): () => HeldAnswer {
  const held = new Map<string, number>();
  let heldByAll = 0;
  const change = (caller: string, bytes: number): void => {
    heldByAll += bytes;
    const left = (held.get(caller) ?? 0) + bytes;
    if (left === 0) held.delete(caller);
    else held.set(caller, left);
  };
  return () => {
    const caller = callerName();
    const atEnd = atEndOfCaller();
    let size = 0;
    let isOver = false;
    return {
      grow: (bytes) => {
        if (isOver) return false;
        //= bar#ST-8
        const isRoom = heldByAll + bytes <= ofProcess && (caller === "" || (held.get(caller) ?? 0) + bytes <= ofCaller);
        if (isRoom) change(caller, bytes);
        if (isRoom) size += bytes;
        return isRoom;
      },
      done: () => {
        if (isOver) return;
        isOver = true;
        const release = (): void => change(caller, -size);
        // Calls for no client in particular are many: what they fetched is gone soon.
        if (caller === "" || atEnd === undefined) release();
        else atEnd(release);
      },
    };
  };
}
