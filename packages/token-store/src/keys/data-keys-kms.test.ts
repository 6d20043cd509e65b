/**
 * The cache of data keys in front of KMS, with the SDK's own client: storms, outages, and a root
 * key that moves under load.
 */
import { systemTimer } from "@oauth-broker/oauth-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { type KmsServer, startKms } from "@oauth-broker/simulators/aws";
import { createDataKeys, type DataKeys } from "./data-keys.ts";
import { open, seal } from "../crypto/envelope.ts";
import { kmsKeyWrapper, type KmsKeyWrapper } from "./kms.ts";
import { keyOfWrapped } from "./kms-wrapped.ts";
import { PATIENT } from "../testing/aws/deadline.ts";

const CONTEXT = { purpose: "tokens", environment: "test", table: "t" };
const UNAVAILABLE = expect.objectContaining({ status: 503, extras: { reason: "kms_unavailable" } });

let clock: ReturnType<typeof fixedClock>;
let kms: KmsServer;
const closing: (() => void)[] = [];

beforeEach(async () => {
  clock = fixedClock(1_700_000_000);
  kms = await startKms();
});

afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await kms.close();
});

function wrapperOf(keyId: string, options: { deadlineMs?: number } = {}): KmsKeyWrapper {
  const wrapper = kmsKeyWrapper({ keyId, endpoint: kms.endpoint, deadlineMs: PATIENT.deadlineMs, ...options });
  closing.push(() => wrapper.close());
  return wrapper;
}

function dataKeysOf(keys: KmsKeyWrapper): DataKeys {
  const dataKeys = createDataKeys({
    keys,
    context: CONTEXT,
    now: clock,
    timer: systemTimer,
    timeoutMs: PATIENT.deadlineMs,
  });
  closing.push(() => dataKeys.close());
  return dataKeys;
}

const times = <T>(count: number, run: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => run(at));
const callsIn = (): number => Object.values(kms.calls()).reduce((sum, count) => sum + count, 0);

interface Row {
  readonly wrapped: string;
  readonly sealed: string;
  readonly place: string;
}

async function sealRow(dataKeys: DataKeys, place: string): Promise<Row> {
  const { dataKey, wrapped } = await dataKeys.toSeal(1);
  return { wrapped, sealed: seal(dataKey, `token of ${place}`, [place]), place };
}

async function readRow(dataKeys: DataKeys, { wrapped, sealed, place }: Row): Promise<boolean> {
  return open(await dataKeys.toOpen(wrapped, 1), sealed, [place]).toString() === `token of ${place}`;
}

/** One after the other, so that the server's peak is not affected yet. */
async function rowsUnder(dataKeyCount: number, rowCount: number, wrapper: KmsKeyWrapper): Promise<Row[]> {
  const writers: DataKeys[] = [];
  const rows: Row[] = [];
  for (let at = 0; at < rowCount; at += 1) {
    const writer = writers[at % dataKeyCount] ?? dataKeysOf(wrapper);
    writers[at % dataKeyCount] = writer;
    rows.push(await sealRow(writer, `row ${at}`));
  }
  expect(kms.inFlightPeak()).toBe(1);
  return rows;
}

describe("a storm", () => {
  it("bar#TS-13 of 200 rows under 30 data keys: 30 calls for a cold process, none once warm", async () => {
    const arn = kms.createKey();
    const rows = await rowsUnder(30, 200, wrapperOf(arn));
    const before = callsIn();
    kms.fault({ kind: "delay", delayMs: 300 });
    const cold = dataKeysOf(wrapperOf(arn));
    const read = await Promise.all(rows.map((row) => readRow(cold, row)));
    expect(read).not.toContain(false);
    expect(callsIn() - before).toBe(30);
    // On a busy machine the first is answered before the last of the 20 is sent.
    expect(kms.inFlightPeak()).toBeLessThanOrEqual(20);
    expect(kms.inFlightPeak()).toBeGreaterThan(1);
    for (let at = 0; at < 400; at += 1) expect(await readRow(cold, rows[at % rows.length]!)).toBe(true);
    expect(callsIn() - before).toBe(30);
  });

  it("bar#TS-13 of 60 rows with a data key each: 60 calls, 20 at once at most", async () => {
    const arn = kms.createKey();
    const rows = await rowsUnder(60, 60, wrapperOf(arn));
    const before = callsIn();
    const cold = dataKeysOf(wrapperOf(arn));
    const read = await Promise.all([...rows, ...rows].map((row) => readRow(cold, row)));
    expect(read).not.toContain(false);
    // On a busy machine a few run into their limit and are repeated; 120 would be one a read.
    expect(callsIn() - before).toBeGreaterThanOrEqual(60);
    expect(callsIn() - before).toBeLessThan(90);
    expect(kms.inFlightPeak()).toBeLessThanOrEqual(20);
  });
});

describe("an outage", () => {
  it("bar#TS-12 leaves keys in memory usable for five minutes, and nothing else", async () => {
    const arn = kms.createKey();
    const [known, unknown] = await rowsUnder(2, 2, wrapperOf(arn));
    const dataKeys = dataKeysOf(wrapperOf(arn, { deadlineMs: 300 }));
    await readRow(dataKeys, known!);
    for (const kind of ["hang", "internal"] as const) {
      kms.fault({ kind });
      expect(await readRow(dataKeys, known!)).toBe(true);
      await expect(readRow(dataKeys, unknown!)).rejects.toThrow(UNAVAILABLE);
      await expect(sealRow(dataKeys, "new")).rejects.toThrow(UNAVAILABLE);
    }
    clock.advance(300);
    await expect(readRow(dataKeys, known!)).rejects.toThrow(UNAVAILABLE);
    kms.fault(undefined);
    expect(await Promise.all([known!, unknown!].map((row) => readRow(dataKeys, row)))).toEqual([true, true]);
    await sealRow(dataKeys, "new");
  });
});

describe("an alias that moves", () => {
  it("bar#TS-14 under 20 callers: nothing fails, and new rows are under the new key in time", async () => {
    const [old, next] = [kms.createKey(), kms.createKey()];
    const wrapper = wrapperOf(kms.createAlias("alias/tokens", old));
    const dataKeys = dataKeysOf(wrapper);
    const rows: Row[] = [];
    let movedAt: number | undefined;
    const rootOf = ({ wrapped }: Row): string | undefined => keyOfWrapped(wrapped)?.arn;

    await Promise.all(
      times(20, async (worker) => {
        for (let round = 0; round < 40; round += 1) {
          const row = await sealRow(dataKeys, `${worker}/${round}`);
          rows.push(row);
          if (movedAt !== undefined && clock() >= movedAt + 300) expect(rootOf(row)).toBe(next);
          expect(await readRow(dataKeys, rows[(worker * 31 + round * 7) % rows.length]!)).toBe(true);
          if (worker === 0) clock.advance(25);
          if (worker === 0 && round === 15) {
            kms.createAlias("alias/tokens", next);
            movedAt = clock();
          }
        }
      }),
    );
    expect(rows).toHaveLength(800);
    expect(new Set(rows.map((row) => rootOf(row)))).toEqual(new Set([old, next]));

    // A process that starts now opens all of them, and knows which to seal again.
    const fresh = dataKeysOf(wrapper);
    expect(await Promise.all(rows.map((row) => readRow(fresh, row)))).not.toContain(false);
    for (const row of rows) expect(fresh.isStale(row.wrapped)).toBe(rootOf(row) === old);
  });
});
