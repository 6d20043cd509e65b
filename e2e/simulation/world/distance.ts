/**
 * What is as far away as a service in a network: each call arrives after a while and is answered
 * after another. It may be refused before it is done, done without an answer, or find the service
 * away.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { currentRequest } from "../invariants/promises.ts";
import type { Random } from "../../support/seeded.ts";
import type { Scheduler, Touch } from "./scheduler.ts";

export interface DistanceParts {
  readonly scheduler: Scheduler;
  /** Absent: calls are answered at once and without faults, in the order the scheduler chooses. */
  readonly faults: (() => Random | undefined) | undefined;
  readonly tell: (line: string) => void;
}

interface Service {
  readonly name: "store" | "key service";
  /** The reason of the error when it does not respond. */
  readonly reason: string;
}

interface Asked extends Pick<Touch, "place" | "isRead"> {
  /** Such as `read flow`. */
  readonly to: string;
}

export type Distance = ReturnType<typeof createDistance>;
export function createDistance({ name, reason }: Service, { scheduler, faults, tell }: DistanceParts) {
  let awayUntilMs = 0;

  /** @returns the milliseconds of one way */
  const way = (random: Random | undefined): number => {
    if (random === undefined) return 0;
    return random.happens(3) ? 200 + random.below(2_000) : 1 + random.below(30);
  };

  return {
    /**
     * A call of a process.
     *
     * @param asked what it reads or writes there, and in which words
     * @param make runs when the call arrives, up to its first await in one step
     */
    call: <T>(process: string, { to, ...touched }: Asked, make: () => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        const what = `${process} asks the ${name} to ${to}`;
        const random = faults?.();
        const request = currentRequest.getStore();
        const fail = (why: string): void => {
          tell(`${what}: ${why}`);
          if (request !== undefined) request.isLetDown = true;
          const error = new OAuthError("temporarily_unavailable", `The ${name} does not respond`, { reason });
          scheduler.later(way(random), () => reject(error));
        };
        const arrive = (): void => {
          if (scheduler.nowMs() < awayUntilMs) return fail(`the ${name} is away`);
          if (random?.happens(3) === true) return fail("throttled, nothing done");
          const isLost = random?.happens(3) === true;
          make().then((result) => {
            if (isLost) return fail("done, and the answer is lost");
            tell(`${what}: ${outcomeOf(result)}`);
            if (random === undefined) return resolve(result);
            return scheduler.later(way(random), () => resolve(result));
          }, reject);
        };
        scheduler.later(way(random), arrive, { process, ...touched });
      }),
    /** Every call fails until then. */
    goAway: (untilMs: number) => {
      awayUntilMs = untilMs;
      tell(`the ${name} goes away for ${Math.round((untilMs - scheduler.nowMs()) / 1000)} s`);
    },
  };
}

function outcomeOf(result: unknown): string {
  if (typeof result === "string") return result;
  if (result === undefined) return "nothing there";
  const { outcome, stage } = result as { readonly outcome?: string; readonly stage?: string };
  return outcome ?? (stage === undefined ? "answered" : `in stage ${stage}`);
}
