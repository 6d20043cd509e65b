/**
 * Brokers of one deployment, built by their composition root, on the ports of the simulation. Each
 * has its own clock. One can crash at any await: what it still waits for never comes, and a
 * new process takes its place.
 */
import { createHash } from "node:crypto";
import type { Clock, KeyWrapper, RecordStore, Timer } from "@oauth-broker/oauth-core";
import type { Egress } from "@oauth-broker/oauth-core/egress";
import { Secret } from "@oauth-broker/oauth-core";
import { createLog } from "@oauth-broker/service";
import { type Broker, createBroker } from "@oauth-broker/broker/src/app.ts";
import type { ClientConfig, Config } from "@oauth-broker/broker/src/config-types.ts";
import { recordKeysetStorage } from "@oauth-broker/broker/src/keys/keyset-storage.ts";
import { createRevisionFloor } from "@oauth-broker/broker/src/keys/keyset-floor.ts";
import type { Promises } from "../invariants/promises.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SharedStore } from "./store.ts";
import { ACME, type SimulatedVendor, VENDOR_CLIENT } from "./vendor.ts";

export const ISSUER = "https://broker.example";
const START_SECONDS = 1_700_000_000;

/** A platform, of a separate owner: the user is shown which owner asks. */
export interface SimulatedClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
}
export const clientNamed = (id: string): SimulatedClient => ({
  id,
  secret: `secret-of-${id}-${"s".repeat(30)}`,
  redirectUri: `https://${id}.example/cb`,
});

export interface Processes {
  readonly count: number;
  /** @throws when the process crashes before it has answered */
  fetch(index: number, request: Request): Promise<Response>;
  crash(index: number): Promise<void>;
  /** The text of /metrics of each process. */
  metrics(): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface ProcessParts {
  readonly scheduler: Scheduler;
  readonly store: SharedStore;
  readonly vendor: SimulatedVendor;
  readonly promises: Promises;
  readonly clients: readonly SimulatedClient[];
  /** For each process, the seconds its clock is ahead. */
  readonly aheadSeconds: readonly number[];
  readonly tell: (line: string) => void;
}

interface Process {
  readonly broker: Broker;
  readonly crashed: PromiseWithResolvers<never>;
  readonly life: Life;
}
interface Life {
  isOver: boolean;
}

export async function startProcesses(parts: ProcessParts): Promise<Processes> {
  const running = await Promise.all(parts.aheadSeconds.map((_, index) => startProcess(index, parts)));
  const at = (index: number): Process => {
    const one = running[index];
    if (one === undefined) throw new RangeError(`there is no broker ${index}`);
    return one;
  };
  return {
    count: running.length,
    fetch: async (index, request) => {
      const { broker, crashed } = at(index);
      return Promise.race([Promise.resolve(broker.app.fetch(request)), crashed.promise]);
    },
    crash: async (index) => {
      const { life, crashed } = at(index);
      parts.tell(`broker ${index + 1} crashes, and another one takes its place`);
      life.isOver = true;
      crashed.reject(new Error("the connection broke"));
      running[index] = await startProcess(index, parts);
    },
    metrics: async () =>
      Promise.all(running.map(async ({ broker }) => (await broker.app.request(`${ISSUER}/metrics`)).text())),
    close: async () => {
      await Promise.all(running.map(({ broker }) => broker.close()));
    },
  };
}

async function startProcess(index: number, parts: ProcessParts): Promise<Process> {
  const { scheduler, store, vendor, promises, clients, aheadSeconds } = parts;
  const name = `broker ${index + 1}`;
  const life: Life = { isOver: false };
  const crashed = Promise.withResolvers<never>();
  crashed.promise.catch(() => undefined);
  const aheadMs = (aheadSeconds[index] ?? 0) * 1000;
  const milliseconds = (): number => START_SECONDS * 1000 + scheduler.nowMs() + aheadMs;
  const now: Clock = Object.assign(() => Math.floor(milliseconds() / 1000), { milliseconds });
  const records = storeOf(life, store.of(name, now));
  const stdout = { write: (line: string) => promises.wrote(line) };
  const broker = await createBroker(configurationFor(clients), {
    now,
    timer: timerOf(life, scheduler.timer),
    log: createLog(stdout, milliseconds),
    stdout,
    egress: egressOf(life, vendor.egressOf(name)),
    stores: {
      records,
      keyset: recordKeysetStorage({ records, place: PLACE, wrapper: OPEN_WRAPPER, otherwise: "another key" }),
      floor: createRevisionFloor(),
      close: async () => {},
    },
  });
  // As at every start of a service: until the store answers, keys are missing.
  const load = async (): Promise<void> => {
    while (!life.isOver && !(await broker.loadKeys())) await scheduler.timer.sleep(1_000);
  };
  void load();
  return { broker, crashed, life };
}

const PLACE = { baseUrl: ISSUER, environment: "local", table: "records" };
/** A key service is not simulated here: its wrapped keys are the keys. */
const OPEN_WRAPPER: KeyWrapper = {
  newDataKey: async () => {
    const dataKey = Buffer.alloc(32, 7);
    return { dataKey, wrapped: dataKey.toString("base64url") };
  },
  unwrap: async (wrapped) => Buffer.from(wrapped, "base64url"),
};

/** What is answered after the crash is never heard. */
async function whileAlive<T>(life: Life, answer: Promise<T>): Promise<T> {
  await answer.catch(() => undefined);
  return life.isOver ? NEVER : answer;
}

const NEVER = new Promise<never>(() => undefined);

function storeOf(life: Life, store: RecordStore): RecordStore {
  return {
    get: (...given) => whileAlive(life, store.get(...given)),
    create: (...given) => whileAlive(life, store.create(...given)),
    advance: (...given) => whileAlive(life, store.advance(...given)),
    delete: (...given) => whileAlive(life, store.delete(...given)),
    ping: () => whileAlive(life, store.ping()),
    close: () => store.close(),
  };
}

function timerOf(life: Life, timer: Timer): Timer {
  return { ...timer, sleep: (ms) => whileAlive(life, timer.sleep(ms)) };
}

function egressOf(life: Life, egress: Egress): Egress {
  const fetch: Egress["fetch"] = (...given) => whileAlive(life, egress.fetch(...given));
  return { fetch, fetchUntrusted: fetch, close: () => egress.close() };
}

function configurationFor(clients: readonly SimulatedClient[]): Config {
  return {
    sandbox: false,
    baseUrl: ISSUER,
    listen: { host: "127.0.0.1", port: 0, trustedProxies: [] },
    store: { kind: "memory" },
    keys: { kind: "store" },
    audit: { kind: "stdout" },
    owners: [],
    clients: clients.map(configuredClient),
    vendors: new Map([["acme", VENDOR_CONFIG]]),
    limits: { parPerMinute: 600, explainPerMinute: 60, vendorCallsPerMinute: 6_000, bodyBytes: 65_536 },
    egress: { allowLoopback: false, allowCidrs: [], timeoutMs: 10_000 },
    warnings: [],
  };
}

const VENDOR_CONFIG = {
  vendor: ACME,
  placeholders: {},
  setup: "none",
  byoc: true,
  credentials: [
    { id: "2026", source: "shared", clientId: VENDOR_CLIENT.id, clientSecret: new Secret(VENDOR_CLIENT.secret) },
  ],
} as const;

function configuredClient({ id, secret, redirectUri }: SimulatedClient): ClientConfig {
  return {
    clientId: id,
    owner: `owner-of-${id}`,
    secretDigests: [createHash("sha256").update(secret).digest()],
    redirectUris: [redirectUri],
    browserBinding: "required",
    allowOverrides: true,
    approvedVendors: [],
  };
}
