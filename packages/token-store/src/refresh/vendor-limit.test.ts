import { OAuthError } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { createBacklog, createVendorLimit, type VendorLimit } from "./vendor-limit.ts";
import { virtualTime } from "../testing/refresh/time.ts";

interface Fixture {
  readonly vendorLimit: VendorLimit;
  readonly started: string[];
  /** Starts work of that name; it ends on request. */
  begin(name: string, options?: { readonly vendor?: string; readonly waitMs?: number }): Promise<string>;
  end(name: string): Promise<void>;
  advance(seconds: number): void;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function fixture(most: number): Fixture {
  const time = virtualTime(0);
  const vendorLimit = createVendorLimit(most, { timer: time.timer, backlog: { isQueue: () => false } });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    vendorLimit,
    started,
    begin: (name, { vendor = "a", waitMs = Infinity } = {}) =>
      vendorLimit
        .run(vendor, waitMs, async () => {
          started.push(name);
          await new Promise<void>((resolve) => ends.set(name, resolve));
          return "done";
        })
        .catch((error: { extras: { reason: string } }) => error.extras.reason),
    end: async (name) => {
      await turn();
      ends.get(name)?.();
      await turn();
    },
    advance: time.advance,
  };
}

describe("places at a vendor", () => {
  it("bar#8.2 no more than so many at once, in the order they came", async () => {
    const { started, begin, end } = fixture(2);
    const all = ["1", "2", "3", "4"].map((name) => begin(name));
    await turn();
    expect(started).toEqual(["1", "2"]);
    await end("2");
    expect(started).toEqual(["1", "2", "3"]);
    await end("1");
    await end("3");
    await end("4");
    expect(await Promise.all(all)).toEqual(["done", "done", "done", "done"]);
    const fifth = begin("5");
    await end("5");
    expect(await fifth).toBe("done");
  });

  it("a vendor that hangs holds up no other", async () => {
    const { started, begin } = fixture(1);
    void begin("1");
    void begin("2");
    void begin("3", { vendor: "b" });
    await turn();
    expect(started).toEqual(["1", "3"]);
  });

  it("without waiting time a caller gets a free place or none", async () => {
    const { begin, end } = fixture(1);
    const first = begin("1");
    expect(await begin("2", { waitMs: 0 })).toBe("refresh_in_progress");
    await end("1");
    expect(await first).toBe("done");
    const third = begin("3", { waitMs: 0 });
    await end("3");
    expect(await third).toBe("done");
  });

  it.each([
    [14, "done"],
    [15, "done"],
    [16, "refresh_in_progress"],
  ])("a caller that waited %i s for a place: %s", async (seconds, answer) => {
    const { begin, end, advance } = fixture(1);
    void begin("1");
    const waiting = begin("2", { waitMs: 15_000 });
    advance(seconds);
    await end("1");
    await end("2");
    expect(await waiting).toBe(answer);
  });

  it("a place is free again after work that failed", async () => {
    const { vendorLimit, begin, end } = fixture(1);
    await expect(vendorLimit.run("a", 0, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    const next = begin("1", { waitMs: 0 });
    await end("1");
    expect(await next).toBe("done");
  });
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
