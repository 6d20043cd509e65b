import { volume, soonerThan } from "@oauth-broker/oauth-core/testing";
import { PATIENT } from "../../testing/aws/deadline.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RecordStore } from "@oauth-broker/oauth-core";
import { faultyTable, type Outcome, runCalls, tally } from "../../testing/aws/dynamo-faults.ts";
import { dynamodbTokenRows } from "./token-rows.ts";
import { dynamodbRecordStore } from "./record-store.ts";

const NOW = 1_700_000_000;
/**
 * The store's own deadline is 2.5 s, and callers are answered in 3; here there is room for a busy
 * machine.
 */
const ANSWERED_WITHIN_MS = 6000;
const UNAVAILABLE = expect.objectContaining({
  name: "OAuthError",
  code: "temporarily_unavailable",
  status: 503,
  retryAfterSeconds: 5,
});

const faulty = faultyTable();
let store: RecordStore;
beforeEach(() => {
  store = dynamodbRecordStore({ ...faulty.options, now: () => NOW });
});
afterEach(() => store.close());

const keyOf = (id: string) => ({ kind: "code", id });
const create = (id: string): Promise<string> =>
  store.create({ key: keyOf(id), stage: "issued", data: { code: id }, expiresAt: NOW + 60 });
const spend = async (id: string): Promise<string> =>
  (await store.advance(keyOf(id), { stage: "issued", expect: { code: id } }, { stage: "spent", set: {} })).outcome;
const read = async (id: string): Promise<string> => (await store.get(keyOf(id)))?.stage ?? "none";

/** The result of a call, whatever it is, in time. */
const outcomeOf = (call: Promise<unknown>, withinMs = ANSWERED_WITHIN_MS): Promise<unknown> =>
  soonerThan(
    withinMs,
    call.catch((error: unknown) => error),
  );

describe("a throttled table", () => {
  it("three in ten requests: no wrong answer, and 99 in 100 succeed", async () => {
    // The engine and its proxy are in this process, too, and their time is part of the deadline.
    await store.close();
    store = dynamodbRecordStore({ ...faulty.options, ...PATIENT, now: () => NOW });
    faulty.proxy.set({ throttleRate: 0.3 });
    const phases: [string, (id: string) => Promise<string>][] = [
      ["created", create],
      ["moved", spend],
      ["replayed", spend],
      ["spent", read],
    ];
    const all: Outcome[] = [];
    let ids = Array.from({ length: volume({ test: 30, soak: 300 }) }, (_, at) => `throttled${at}`);
    for (const [right, call] of phases) {
      const outcomes = await runCalls(ids.length, 10, (at) => call(ids[at]!));
      const { [right]: succeeded = 0, temporarily_unavailable: refused = 0 } = tally(outcomes);
      expect(succeeded + refused, JSON.stringify(tally(outcomes))).toBe(ids.length);
      // A throttled write was not executed, so the next phase uses only records whose write was.
      ids = outcomes.flatMap(({ at, outcome }) => (outcome === right ? [ids[at]!] : []));
      all.push(...outcomes);
    }
    expect(
      all.filter(({ outcome }) => outcome !== "temporarily_unavailable").length / all.length,
    ).toBeGreaterThanOrEqual(0.99);
    expect(faulty.proxy.counts().throttled).toBeGreaterThan(volume({ test: 20, soak: 200 }));
  });

  it("all the time: refused in time, with the cause for the operator", async () => {
    faulty.proxy.set({ throttleRate: 1 });
    const answer = await outcomeOf(create("throttled"));
    expect(answer).toEqual(UNAVAILABLE);
    // Its own deadline may come before the last try.
    expect(String((answer as { detail?: string }).detail)).toMatch(/is throttled: use on-demand|no answer within/);
  });
});

it("a table that is away refuses every call within three seconds and works again at once", async () => {
  const rows = dynamodbTokenRows(faulty.options);
  const rowKey = { pk: "USER#u1", sk: "VENDOR#v" };
  expect(await create("before")).toBe("created");
  faulty.proxy.set({ down: true });
  const calls = [
    store.get(keyOf("before")),
    create("other"),
    spend("before"),
    store.delete(keyOf("before")),
    store.ping(),
    rows.get(rowKey),
    rows.change(rowKey, { set: { a: 1 } }, {}),
    rows.delete(rowKey, { a: 1 }),
    rows.partition("USER#u1"),
    rows.scan({ limit: 1 }),
    rows.ping(),
  ];
  for (const answer of await Promise.all(calls.map((call) => outcomeOf(call)))) {
    expect(answer).toEqual(UNAVAILABLE);
  }
  faulty.proxy.set({});
  expect(await spend("before")).toBe("moved");
  await rows.close();
});

describe("a table that hangs", () => {
  it("times out", async () => {
    faulty.proxy.set({ hangMs: 60_000 });
    const answer = await outcomeOf(create("hangs"));
    expect(answer).toEqual(UNAVAILABLE);
    expect(answer).toMatchObject({ detail: "no answer within 2500 ms" });
  });

  it("is asked again on another connection when a request hangs", async () => {
    await store.ping();
    faulty.proxy.set({ hangMs: 60_000 });
    const created = create("hung once");
    await new Promise((resolve) => setTimeout(resolve, 200));
    faulty.proxy.set({});
    expect(await created).toBe("created");
  });
});

it("a table whose every answer is lost times out, and its write is there", async () => {
  faulty.proxy.set({ loseAnswers: "all" });
  expect(await outcomeOf(create("lost for good"))).toEqual(UNAVAILABLE);
  faulty.proxy.set({});
  // The write was executed, and no caller got its result: the next read finds the record.
  expect(await read("lost for good")).toBe("issued");
});
