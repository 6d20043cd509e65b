/**
 * Brokers of one deployment, built by their composition root, on the ports of the simulation. Each
 * has its own clock.
 */
import type { KeyWrapper } from "@oauth-broker/oauth-core";
import { Secret } from "@oauth-broker/oauth-core";
import { createLog } from "@oauth-broker/service";
import { type Broker, createBroker } from "@oauth-broker/broker/src/app.ts";
import type { ClientConfig, Config } from "@oauth-broker/broker/src/config-types.ts";
import { recordKeysetStorage } from "@oauth-broker/broker/src/keys/keyset-storage.ts";
import { createRevisionFloor } from "@oauth-broker/broker/src/keys/keyset-floor.ts";
import { confidentialClient, ISSUER, memoryConfig } from "@oauth-broker/broker/src/testing/memory-config.ts";
import { clockOf, type Fleet, type Life, portIn, startFleet, startUp, storeOf, timerOf } from "./fleet.ts";
import type { Beginning } from "./network.ts";
import type { SharedStore } from "./store.ts";
import { type SimulatedVendor, VENDOR_CLIENT, vendorAt, type VendorClient } from "./vendor.ts";

/** What the platforms of a deployment have in common. */
export interface Setting {
  /** Each platform has another owner, so users are shown which one asks. */
  readonly hasOwners: boolean;
  /** Each platform uses its own client at the vendor. */
  readonly bringsClients: boolean;
  readonly refreshTokens: "vendor" | "sealed";
}

const USUAL: Setting = { hasOwners: true, bringsClients: false, refreshTokens: "vendor" };

/** A platform. */
export interface SimulatedClient extends Setting {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
  /** Its own at the vendor; its secret is being replaced. */
  readonly own: VendorClient | undefined;
}
export const clientNamed = (id: string, setting: Setting = USUAL): SimulatedClient => ({
  ...setting,
  id,
  secret: `secret-of-${id}-${"s".repeat(30)}`,
  redirectUri: `https://${id}.example/cb`,
  own: setting.bringsClients
    ? { id: `${id}'s own`, secrets: [`old-secret-of-${id}-at-acme`, `new-secret-of-${id}-at-acme`] }
    : undefined,
});

interface ProcessParts extends Beginning {
  readonly store: SharedStore;
  readonly vendor: SimulatedVendor;
  readonly clients: readonly SimulatedClient[];
  /** For each process, the seconds its clock is ahead. */
  readonly aheadSeconds: readonly number[];
  /** After how many milliseconds the process that was just granted a lease goes on. */
  readonly suspension: () => number;
}

export async function startProcesses(parts: ProcessParts): Promise<Fleet<Broker>> {
  const { aheadSeconds, tell } = parts;
  const start = (index: number, life: Life): Promise<Broker> => startBroker(index, life, parts);
  return startFleet({ name: "broker", count: aheadSeconds.length, tell, start });
}

async function startBroker(index: number, life: Life, parts: ProcessParts): Promise<Broker> {
  const { scheduler, store, vendor, promises, clients, aheadSeconds } = parts;
  const name = `broker ${index + 1}`;
  const now = clockOf(scheduler, aheadSeconds[index]);
  const standStill = (): void => {
    const ms = parts.suspension();
    if (ms === 0 || life.isOver) return;
    parts.tell(`${name} stands still for ${Math.round(ms / 1000)} s`);
    promises.suspended(scheduler.nowMs() + ms);
    life.awake = scheduler.wait(ms);
  };
  const timer = timerOf(life, scheduler.timerOf(name));
  const records = storeOf(life, store.of(name, now), standStill);
  const stdout = { write: (line: string) => promises.wrote(line) };
  const broker = await createBroker(configurationFor(clients), {
    now,
    timer,
    log: createLog(stdout, now.milliseconds),
    stdout,
    egress: portIn(life, vendor.egressOf(name)),
    stores: {
      records,
      keyset: recordKeysetStorage({ records, place: PLACE, wrapper: OPEN_WRAPPER, otherwise: "another key" }),
      floor: createRevisionFloor(),
      close: async () => {},
    },
  });
  // Until the store answers, keys are missing.
  void startUp(life, timer, broker.loadKeys);
  return broker;
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

function configurationFor(clients: readonly SimulatedClient[]): Config {
  return memoryConfig({
    audit: { kind: "stdout" },
    clients: clients.map(configuredClient),
    vendors: new Map([["acme", VENDOR_CONFIG]]),
  });
}

const VENDOR_CONFIG = {
  vendor: vendorAt("acme"),
  placeholders: {},
  setup: "none",
  byoc: true,
  credentials: [
    { id: "2026", source: "shared", clientId: VENDOR_CLIENT.id, clientSecret: new Secret(VENDOR_CLIENT.secret) },
  ],
} as const;

function configuredClient({ id, secret, redirectUri, hasOwners, refreshTokens }: SimulatedClient): ClientConfig {
  return {
    ...confidentialClient(id, secret, redirectUri),
    ...(hasOwners ? { owner: `owner-of-${id}` } : {}),
    refreshTokens,
  };
}
