/**
 * The cost of the store and the envelope: `node packages/token-store/src/testing/measure.ts
 * [flows]`. The source of the figures in docs/decisions/0003-sqlite-and-power-loss.md. Processor time
 * of this whole process, including garbage collection.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RecordStore } from "@oauth-broker/oauth-core";
import { deriveKey, open, seal } from "../crypto/envelope.ts";
import { memoryRecordStore } from "../storage/memory/record-store.ts";
import { sqliteRecordStore } from "../storage/sqlite/record-store.ts";

const NOW = 1_700_000_000;
const OPERATIONS_PER_FLOW = 6;

export interface Figure {
  readonly name: string;
  /** Microseconds of processor time for one operation. */
  readonly processor: number;
  /** Microseconds on the wall clock for one operation. */
  readonly wall: number;
  /** Milliseconds the slowest single flow, or thousand calls, took. */
  readonly slowest: number;
}

/**
 * A brokered flow as the broker runs it: pushed, started, parked, spent, and a read before all but
 * the first advance.
 */
async function runFlow(store: RecordStore, id: string): Promise<void> {
  const key = { kind: "flow", id };
  const cookieHash = `cookie ${id} ${"c".repeat(32)}`;
  const codeHash = "h".repeat(43);
  const data = {
    v: 1,
    client: "platform",
    vendor: "github",
    cookieHash,
    redirectUri: "https://acme.platform.example/oauth/vendor-callback",
    codeChallenge: "d".repeat(43),
    state: "s".repeat(60),
    scope: ["repo", "read:user"],
  };
  await store.create({ key, stage: "pushed", data, expiresAt: NOW + 600 });
  const pushed = { stage: "pushed", expect: { client: "platform" } };
  await store.advance(key, pushed, { stage: "started", set: { attempt: "1" } });
  await store.get(key);
  const started = { stage: "started", expect: { cookieHash } };
  const parked = { codeHash, parked: "p".repeat(300) };
  await store.advance(key, started, { stage: "parked", set: parked, remove: ["attempt"], expiresAt: NOW + 60 });
  await store.get(key);
  const redeemed = { stage: "parked", expect: { client: "platform", codeHash } };
  await store.advance(key, redeemed, { stage: "spent", set: { attempt: "2" }, remove: ["parked"] });
}

async function measure(name: string, count: number, each: number, run: (at: number) => unknown): Promise<Figure> {
  for (let at = 0; at < count / 10; at += 1) await run(-1 - at);
  const processor = process.cpuUsage();
  const wall = process.hrtime.bigint();
  let slowest = 0n;
  for (let at = 0; at < count; at += 1) {
    const start = process.hrtime.bigint();
    await run(at);
    const took = process.hrtime.bigint() - start;
    if (took > slowest) slowest = took;
  }
  const { user, system } = process.cpuUsage(processor);
  const operations = count * each;
  return {
    name,
    processor: (user + system) / operations,
    wall: Number(process.hrtime.bigint() - wall) / 1000 / operations,
    slowest: Number(slowest) / 1e6,
  };
}

/** @param flows how many to run on each store */
export async function measureStores(flows: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "measure-"));
  const now = (): number => NOW;
  const stores = {
    memory: memoryRecordStore({ now }),
    "sqlite, normal": sqliteRecordStore({ path: join(folder, "normal.sqlite"), now }),
    "sqlite, full": sqliteRecordStore({ path: join(folder, "full.sqlite"), now, durability: "full" }),
  };
  const figures: Figure[] = [];
  try {
    for (const [name, store] of Object.entries(stores)) {
      // Scattered over the table, as random ids are.
      const id = (at: number): string => deriveKey(`flow ${at}`, name).toString("base64url");
      const ids = Array.from({ length: flows }, (_, at) => id(at));
      figures.push(await measure(name, flows, OPERATIONS_PER_FLOW, (at) => runFlow(store, ids[at] ?? id(at))));
    }
  } finally {
    for (const store of Object.values(stores)) await store.close();
    rmSync(folder, { recursive: true });
  }
  return figures;
}

/** @param thousands of calls of each function */
export async function measureEnvelope(thousands: number): Promise<Figure[]> {
  const key = deriveKey("a key of measurements", "envelope");
  const context = ["parked code", "flow", "0123456789abcdef", "code"];
  const text = "x".repeat(200);
  const sealed = seal(key, text, context);
  const calls = {
    seal: () => seal(key, text, context),
    open: () => open(key, sealed, context),
    deriveKey: () => deriveKey(key, "a purpose"),
  };
  const figures: Figure[] = [];
  for (const [name, call] of Object.entries(calls)) {
    const thousand = (): void => {
      for (let count = 0; count < 1000; count += 1) call();
    };
    figures.push(await measure(name, thousands, 1000, thousand));
  }
  return figures;
}

if (import.meta.main) {
  const flows = Number(process.argv[2] ?? 5000);
  process.stdout.write("                  processor µs    wall µs    slowest flow or 1000 calls, ms\n");
  for (const figures of [await measureEnvelope(Math.ceil(flows / 100)), await measureStores(flows)]) {
    for (const { name, processor, wall, slowest } of figures) {
      const cells = [processor, wall, slowest].map((figure) => figure.toFixed(1).padStart(12)).join("");
      process.stdout.write(`${name.padEnd(16)}${cells}\n`);
    }
  }
}
