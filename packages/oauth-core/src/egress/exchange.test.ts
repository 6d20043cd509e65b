import { Dispatcher } from "undici";
import { describe, expect, it } from "vitest";
import { ANSWER_BOUNDS, createAnswerBudget } from "./answer-budget.ts";
import { exchange } from "./exchange.ts";

type Handler = Dispatcher.DispatchHandler;
const CONTROLLER: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
};
const REQUEST = { path: "/token", method: "POST", headers: [], body: "code=x", signal: undefined };

const held = createAnswerBudget(ANSWER_BOUNDS)();

/** A pool that only accepts the request, and lets the test drive the connection. */
function takingPool(): { pool: Dispatcher; handler: () => Handler } {
  let taken: Handler | undefined;
  const pool = Object.assign(new Dispatcher(), {
    dispatch: (_options: Dispatcher.DispatchOptions, handler: Handler) => {
      taken = handler;
      return true;
    },
  });
  return {
    pool,
    handler: () => {
      if (taken === undefined) throw new Error("nothing was dispatched");
      return taken;
    },
  };
}

describe("exchange", () => {
  it("bar#VR-5 refuses to write a request a second time", async () => {
    const { pool, handler } = takingPool();
    const answer = exchange(pool, REQUEST, {
      timeoutMs: 1_000,
      maxBodyBytes: 10,
      origin: "https://vendor.example",
      held,
    });
    handler().onRequestStart?.(CONTROLLER, null);
    expect(() => handler().onRequestStart?.(CONTROLLER, null)).toThrow("given up");
    handler().onResponseError?.(CONTROLLER, new Error("lost"));
    await expect(answer).rejects.toMatchObject({ kind: "broken", sent: true });
  });

  it("bar#VR-5 does not write a request whose time was over while it waited", async () => {
    const { pool, handler } = takingPool();
    const answer = exchange(pool, REQUEST, { timeoutMs: 5, maxBodyBytes: 10, origin: "https://vendor.example", held });
    await expect(answer).rejects.toMatchObject({ kind: "timeout", sent: false });
    expect(() => handler().onRequestStart?.(CONTROLLER, null)).toThrow("given up");
  });
});
