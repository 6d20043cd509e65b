/**
 * A table or key service that is away is waited for: a command that walks a million rows must not end at the first
 * throttled call, and must not hurry one that is being mended. What is no outage is thrown on at once.
 */
import { OAuthError } from "@oauth-broker/oauth-core";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** Since the last answer. Then the command ends, and says how it goes on. */
const PATIENCE_MS = 30 * 60_000;

/** Resolves after so many milliseconds, and at once when the command is told to stop. */
export type Sleep = (ms: number) => Promise<void>;

export interface PatienceDeps {
  readonly sleep: Sleep;
  readonly signal: AbortSignal;
  /** Told of every pause. `detail` is for the operator and holds no secret. */
  readonly onWait: (wait: { readonly reason: string; readonly detail: string; readonly seconds: number }) => void;
}

export type Patiently = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * @returns a function that calls until it gets an answer. All calls wait for one outage together. It throws the outage
 *   itself when patience or the command ends
 */
export function patience({ sleep, signal, onWait }: PatienceDeps): Patiently {
  let pause = FIRST_PAUSE_MS;
  let waited = 0;
  let waiting: Promise<void> | undefined;

  const wait = async (error: OAuthError): Promise<void> => {
    onWait({ reason: error.extras.reason ?? error.code, detail: detailOf(error), seconds: pause / 1000 });
    await sleep(pause);
    waited += pause;
    pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
    waiting = undefined;
  };

  return async (call) => {
    for (;;) {
      try {
        // oxlint-disable-next-line no-await-in-loop
        const answer = await call();
        [pause, waited] = [FIRST_PAUSE_MS, 0];
        return answer;
      } catch (error) {
        if (!isOutage(error) || waited >= PATIENCE_MS || signal.aborted) throw error;
        // oxlint-disable-next-line no-await-in-loop
        await (waiting ??= wait(error));
      }
    }
  };
}

/** What waiting may mend. */
export function isOutage(error: unknown): error is OAuthError {
  return (
    error instanceof OAuthError &&
    error.code === "temporarily_unavailable" &&
    error.extras.reason !== "token_unreadable"
  );
}

export function detailOf(error: OAuthError): string {
  return error.detail === undefined ? error.description : `${error.description}: ${error.detail}`;
}
