/**
 * When a request to DynamoDB is sent again: the SDK's retry strategy, our own so that its figures
 * are explicit and tested. Full jitter from a small base, because a throttled table needs its
 * callers spread out, and callers need a quick response. The deadline of bounded-calls.ts covers
 * all of it.
 */
import { randomInt } from "node:crypto";

const BASE_MS = 25;
const LONGEST_PAUSE_MS = 400;
/** With eight attempts at a table that throttles three in ten, seven in a hundred thousand fail. */
export const DEFAULT_MAX_ATTEMPTS = 8;

/**
 * The SDK treats these as the caller's mistakes; the next attempt to write one item meets neither.
 */
const PASSING = new Set(["TransactionConflictException", "ReplicatedWriteConflictException"]);

interface Token {
  getRetryCount(): number;
  getRetryDelay(): number;
  /** Whether an earlier attempt may have succeeded without our knowledge. */
  readonly inDoubt: boolean;
}

interface Failure {
  readonly errorType: string;
  readonly error?: unknown;
}

export function createRetries(maxAttempts: number) {
  const inDoubt = new WeakSet<object>();
  const tokens = (count: number, delay: number, doubt: boolean): Token => ({
    getRetryCount: () => count,
    getRetryDelay: () => delay,
    inDoubt: doubt,
  });
  const first = tokens(0, 0, false);

  return {
    /** Fits the SDK's `retryStrategy`. */
    strategy: {
      acquireInitialRetryToken: async (): Promise<Token> => first,
      refreshRetryTokenForRetry: async (token: Token, { errorType, error }: Failure): Promise<Token> => {
        const count = token.getRetryCount() + 1;
        if (!isPassing(errorType, error) || count >= maxAttempts) {
          if (token.inDoubt && error instanceof Error) inDoubt.add(error);
          throw new Error("not tried again"); // the SDK throws the request's own error instead
        }
        const most = Math.min(LONGEST_PAUSE_MS, BASE_MS * 2 ** (count - 1));
        return tokens(count, randomInt(most + 1), token.inDoubt || mayHaveBeenDone(errorType, error));
      },
      recordSuccess: (): void => undefined,
    },
    /**
     * Whether a request that ended in this error had an earlier attempt whose answer was lost, so
     * that it may have been executed.
     */
    isInDoubt: (error: unknown): boolean => typeof error === "object" && error !== null && inDoubt.has(error),
  };
}

function isPassing(errorType: string, error: unknown): boolean {
  if (errorType !== "CLIENT_ERROR" || isUnreadable(error)) return true;
  return error instanceof Error && PASSING.has(error.name);
}

/** It was cut, or a proxy sent it: the answer is lost, at any status. */
function isUnreadable(error: unknown): boolean {
  return error instanceof SyntaxError;
}

/**
 * A throttled or refused request was not executed; a lost connection, a timeout or a 500 says
 * nothing.
 */
function mayHaveBeenDone(errorType: string, error: unknown): boolean {
  return errorType === "TRANSIENT" || errorType === "SERVER_ERROR" || isUnreadable(error);
}
