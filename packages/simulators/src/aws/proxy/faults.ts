/** The faults of the proxy, and which requests get them. */
import { createHash } from "node:crypto";
import { seededNumbers } from "../seeded.ts";

export interface Faults {
  /** The share of requests answered as throttled, 0 to 1; the engine does not see them. */
  readonly throttleRate?: number;
  /** The share of the others answered with a 500; the engine does not see them. */
  readonly errorRate?: number;
  /** Every connection is reset, open ones too. */
  readonly down?: boolean;
  /**
   * The engine does the work, and the connection is reset instead of its response.
   * `conditional-writes-once`: for the first success of every distinct conditional write,
   * identified by its operation and its body; a client's retry of it passes. `all`: for every
   * request.
   */
  readonly loseAnswers?: "conditional-writes-once" | "all";
  /**
   * Requests are held this long before anything else happens to them; when the client has left by
   * then, they are dropped.
   */
  readonly hangMs?: number;
}

export interface ProxiedRequest {
  readonly operation: string;
  readonly body: string;
}

export interface FaultDecision {
  readonly hangMs: number;
  readonly refuse: "throttle" | "error" | undefined;
  /** Called with the status of the engine's response. */
  readonly losesAnswer: (status: number) => boolean;
}

const WRITES: ReadonlySet<string> = new Set(["PutItem", "UpdateItem", "DeleteItem"]);

const SEED = 20_260_101;

/** @returns decides the faults of a request; draws the same numbers in every run, in the order of requests */
export function createFaultDecider(): (request: ProxiedRequest, faults: Faults) => FaultDecision {
  const number = seededNumbers(SEED);
  const lost = new Set<string>();
  return (request, faults) => {
    const throttled = number() < (faults.throttleRate ?? 0);
    const failed = number() < (faults.errorRate ?? 0);
    return {
      hangMs: faults.hangMs ?? 0,
      refuse: throttled ? "throttle" : failed ? "error" : undefined,
      losesAnswer(status) {
        if (faults.loseAnswers !== "conditional-writes-once") return faults.loseAnswers === "all";
        if (status !== 200 || !isConditionalWrite(request)) return false;
        const write = createHash("sha256").update(`${request.operation}\n`).update(request.body).digest("base64");
        return lost.size !== lost.add(write).size;
      },
    };
  };
}

function isConditionalWrite({ operation, body }: ProxiedRequest): boolean {
  if (operation === "TransactWriteItems") return true;
  if (!WRITES.has(operation)) return false;
  const input = JSON.parse(body) as object;
  return "ConditionExpression" in input || "Expected" in input;
}
