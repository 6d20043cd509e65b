import { OAuthError } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { createBacklog, createVendorLimit } from "./vendor-limit.ts";
import { virtualTime } from "../testing/refresh/time.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("bar#8.2 no more than so many at a vendor at once, and one that hangs holds up no other", async () => {
  const { timer } = virtualTime(0);
  const vendorLimit = createVendorLimit(1, { timer, backlog: { isQueue: () => false } });
  const run = (vendor: string, waitMs: number, work: () => Promise<string>): Promise<string> =>
    vendorLimit.run(vendor, waitMs, work).catch(({ extras, message }: OAuthError) => extras?.reason ?? message);
  void run("a", 0, () => new Promise(() => undefined));
  expect(await run("a", 0, async () => "done")).toBe("refresh_in_progress");
  expect(await run("b", 0, () => Promise.reject(new Error("failed")))).toBe("failed");
  expect(await run("b", 0, async () => "done")).toBe("done");
  expect(timer.elapsedMs()).toBe(0);
  expect(await run("a", 15_000, async () => "done")).toBe("refresh_in_progress");
  expect(timer.elapsedMs()).toBe(15_000);
});

describe("a vendor that refuses", () => {
  const refusal = new OAuthError("temporarily_unavailable", "Slow down", { reason: "vendor_unavailable" });

  function refusing(hasQueue: boolean) {
    const time = virtualTime(0);
    const vendorLimit = createVendorLimit(50, { timer: time.timer, backlog: { isQueue: () => hasQueue } });
    const calls: string[] = [];
    const ask = (vendor: string, error: Error | undefined = refusal): Promise<unknown> =>
      vendorLimit
        .run(vendor, Infinity, async () => {
          calls.push(vendor);
          if (error !== undefined) throw error;
        })
        .catch((thrown: OAuthError) => [thrown.extras.reason, thrown.retryAfterSeconds]);
    return { ...time, vendorLimit, calls, ask };
  }

  it("is asked again a quarter of a second later, while it has a queue", async () => {
    const { calls, ask, timer } = refusing(true);
    await ask("a");
    expect(await ask("a")).toEqual(["refresh_in_progress", 5]);
    await ask("b");
    expect(calls).toEqual(["a", "b"]);
    await timer.sleep(250);
    await ask("a");
    expect(calls).toEqual(["a", "b", "a"]);
  });

  it("is asked by one refresh at a time, until it takes one", async () => {
    const { vendorLimit, ask, timer } = refusing(true);
    await ask("a");
    await timer.sleep(250);
    const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let begun = 0;
    const asked = [0, 1, 2].map(() =>
      vendorLimit.run("a", 15_000, async () => {
        begun += 1;
        await answers[begun - 1]?.promise;
      }),
    );
    await turn();
    expect(begun).toBe(1);
    answers[0]?.resolve();
    await turn();
    expect(begun).toBe(3);
    answers[1]?.resolve();
    await Promise.all(asked);
  });

  it("holds up no other user without a queue, and never for an error that is not its own", async () => {
    const alone = refusing(false);
    await alone.ask("a");
    await alone.ask("a");
    expect(alone.calls).toHaveLength(2);
    const queue = refusing(true);
    const ours = new OAuthError("temporarily_unavailable", "Down", { reason: "store_unavailable" });
    await queue.ask("a", ours);
    await queue.ask("a", new OAuthError("invalid_grant", "Refused"));
    await queue.ask("a", ours);
    expect(queue.calls).toHaveLength(3);
  });
});

describe("the queue of a vendor", () => {
  const row = (number: number) => ({ pk: `USER#${number}`, sk: "VENDOR#a" });

  function counted() {
    const time = virtualTime(1_700_000_000);
    const counts: number[] = [];
    const backlog = createBacklog({
      now: time.now,
      onEvent: (event) => counts.push(event.name === "refresh_backlog" ? event.count : Number.NaN),
    });
    return { ...time, backlog, counts };
  }

  const add = ({ backlog }: ReturnType<typeof counted>, from: number, to: number): void => {
    for (let number = from; number <= to; number += 1) backlog.add("a", row(number));
  };

  it("counts each record once, and reports every ten seconds", () => {
    const queue = counted();
    add(queue, 1, 9);
    add(queue, 1, 9);
    expect(queue.counts).toEqual([]);
    add(queue, 10, 12);
    expect(queue.counts).toEqual([10]);
    queue.advance(10);
    add(queue, 1, 1);
    expect(queue.counts).toEqual([10, 12]);
  });

  it("reports once that it is empty", () => {
    const queue = counted();
    add(queue, 1, 2);
    queue.backlog.remove("a", row(1));
    queue.backlog.remove("a", row(2));
    expect(queue.counts).toEqual([]);
    add(queue, 1, 10);
    for (let number = 1; number <= 10; number += 1) queue.backlog.remove("a", row(number));
    queue.backlog.remove("a", row(1));
    expect(queue.counts).toEqual([10, 0]);
  });

  it("forgets a record whose user does not come back", () => {
    const queue = counted();
    add(queue, 1, 10);
    queue.advance(60);
    add(queue, 11, 21);
    expect(queue.counts).toEqual([10, 10]);
  });
});
