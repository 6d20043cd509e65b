/**
 * Group commit: the writes of one turn of the event loop share a transaction, because a commit costs
 * more than the statement in it. A write alone in its turn is committed by itself. While another
 * process holds the lock, writes wait one by one in lock-queue.ts, which bounds and orders them.
 */
import type { SqliteEngine } from "./engine.ts";

export interface Batch<Statements> {
  /**
   * @param deadline of the engine's `deadline()`
   * @returns the result, once it is committed
   * @throws OAuthError temporarily_unavailable; an operation that fails takes no other one with it
   */
  write<T>(operation: (statements: Statements) => T, deadline: number): Promise<T>;
}

interface Member<Statements> {
  readonly operation: (statements: Statements) => unknown;
  readonly deadline: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Of the event loop itself, also in a test that controls time. */
const nextTurn = setImmediate;

/** Longer transactions would block the process, and other processes, in turn. */
const MOST_IN_ONE = 64;

export function createBatch<Statements>({
  write,
  tryAll,
  isContended,
}: Pick<SqliteEngine<Statements>, "write" | "tryAll" | "isContended">): Batch<Statements> {
  let members: Member<Statements>[] = [];

  const writeAlone = async ({ operation, deadline, resolve, reject }: Member<Statements>): Promise<void> => {
    try {
      resolve(await write(operation, deadline));
    } catch (error) {
      reject(error);
    }
  };
  const commit = (batch: readonly Member<Statements>[]): void => {
    try {
      const isShared = batch.length > 1 && !isContended();
      const results = isShared ? tryAll(batch.map(({ operation }) => operation)) : undefined;
      for (const [index, member] of batch.entries()) {
        const result = results?.[index];
        if (result === undefined) void writeAlone(member);
        else if (result.status === "fulfilled") member.resolve(result.value);
        else member.reject(result.reason);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  const commitThem = (): void => {
    const all = members;
    members = [];
    for (let at = 0; at < all.length; at += MOST_IN_ONE) commit(all.slice(at, at + MOST_IN_ONE));
  };

  return {
    write: (operation, deadline) =>
      new Promise((resolve, reject) => {
        const member = { operation, deadline, resolve: resolve as (result: unknown) => void, reject };
        if (isContended()) return void writeAlone(member);
        members.push(member);
        if (members.length === 1) nextTurn(commitThem);
      }),
  };
}
