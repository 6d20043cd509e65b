import { describe, expect, it } from "vitest";
import { createRetries } from "./retries.ts";

const THROTTLED = { errorType: "THROTTLING", error: new Error("throttled") };
const LOST = { errorType: "TRANSIENT", error: new Error("reset") };

describe("retries of a request", () => {
  it("are as many as configured, then the error is thrown", async () => {
    const { strategy } = createRetries(3);
    let token = await strategy.acquireInitialRetryToken();
    token = await strategy.refreshRetryTokenForRetry(token, THROTTLED);
    token = await strategy.refreshRetryTokenForRetry(token, LOST);
    expect(token.getRetryCount()).toBe(2);
    await expect(strategy.refreshRetryTokenForRetry(token, THROTTLED)).rejects.toThrow("not tried again");
  });

  it("wait between 0 and a limit that doubles from 25 to 400 ms", async () => {
    const { strategy } = createRetries(100);
    for (const [count, bound] of [25, 50, 100, 200, 400, 400, 400].entries()) {
      const token = { getRetryCount: () => count, getRetryDelay: () => 0, inDoubt: false };
      const delays: number[] = [];
      for (let draw = 0; draw < 2000; draw += 1) {
        delays.push((await strategy.refreshRetryTokenForRetry(token, THROTTLED)).getRetryDelay());
      }
      expect(Math.max(...delays)).toBeLessThanOrEqual(bound);
      // Of 2000 draws none in the last tenth, or the first: less likely than one in 10^80.
      expect(Math.max(...delays)).toBeGreaterThan(bound * 0.9 - 1);
      expect(Math.min(...delays)).toBeLessThan(bound * 0.1 + 1);
    }
  });

  it("are not made for an invalid request, except for a conflict with another writer", async () => {
    const { strategy } = createRetries(8);
    const first = await strategy.acquireInitialRetryToken();
    const named = (name: string) => ({ errorType: "CLIENT_ERROR", error: Object.assign(new Error(name), { name }) });
    for (const name of ["ValidationException", "ConditionalCheckFailedException", "ResourceNotFoundException"]) {
      await expect(strategy.refreshRetryTokenForRetry(first, named(name))).rejects.toThrow("not tried again");
    }
    for (const name of ["TransactionConflictException", "ReplicatedWriteConflictException"]) {
      expect((await strategy.refreshRetryTokenForRetry(first, named(name))).getRetryCount()).toBe(1);
    }
  });

  it.each([
    ["a lost answer", [LOST], true],
    ["a lost answer and then a throttled try", [LOST, THROTTLED], true],
    ["a 500", [{ errorType: "SERVER_ERROR", error: new Error("500") }], true],
    ["an answer that cannot be read", [{ errorType: "CLIENT_ERROR", error: new SyntaxError("cut") }], true],
    ["throttled tries", [THROTTLED, THROTTLED], false],
    ["nothing", [], false],
  ])("after %s a failed condition is in doubt: %s", async (_what, failures, doubt) => {
    const { strategy, isInDoubt } = createRetries(8);
    let token = await strategy.acquireInitialRetryToken();
    for (const failure of failures) token = await strategy.refreshRetryTokenForRetry(token, failure);
    const error = new Error("The conditional request failed");
    await expect(strategy.refreshRetryTokenForRetry(token, { errorType: "CLIENT_ERROR", error })).rejects.toThrow(
      "not tried again",
    );
    expect(isInDoubt(error)).toBe(doubt);
    expect(isInDoubt(new Error("another"))).toBe(false);
  });
});
