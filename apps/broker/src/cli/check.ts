/**
 * `broker check`: what the configuration amounts to, and everything that keeps a broker with it
 * from becoming ready. Makes nothing: a store, key or folder made here would belong to the user who
 * ran it. The configuration itself, the audit file included, is checked if it is loaded.
 */
import { existsSync, mkdtempSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { OAuthError, systemClock } from "@oauth-broker/oauth-core";
import { TERMINAL } from "@oauth-broker/oauth-core/command-line";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import type { Config } from "../config.ts";
import { keyFileOf } from "../config/store-and-keys.ts";
import { createKeyset, type Keyset } from "../keys/keyset.ts";
import { openStores, type Stores } from "../stores.ts";

const { print, say } = TERMINAL;

/** @returns the exit code: 0 only if the broker would become ready */
export async function check(config: Config): Promise<number> {
  for (const warning of config.warnings) say(`warning: ${warning}`);
  const lines = [
    `configuration  ${config.file ?? "none: the sandbox"}`,
    `base_url       ${config.baseUrl}`,
    `listen         ${config.listen.host}:${config.listen.port}`,
    `store          ${placeOfStore(config)}`,
    `keys           ${placeOfKeys(config)}`,
    `audit          ${config.audit.kind === "file" ? config.audit.path : config.audit.kind}`,
    `clients        ${config.clients.map(({ clientId }) => clientId).join(", ") || "none"}`,
    `vendors        ${usableVendors(config)}`,
  ];
  print(lines.join("\n"));
  const obstacle = await findObstacle(config);
  if (obstacle === undefined) {
    print("ok");
    return 0;
  }
  say(`A broker with this configuration starts and does not become ready: ${obstacle}`);
  return 1;
}

/** @returns why `/readyz` would answer 503; undefined if it would not */
async function findObstacle(config: Config): Promise<string | undefined> {
  const { store } = config;
  const isNew = store.kind === "sqlite" && !existsSync(store.path);
  const obstacle = isNew ? cannotBeMade(store.path) : undefined;
  if (obstacle !== undefined) return obstacle;
  // Opening a store that is not there would make it.
  const parts = isNew ? { records: memoryRecordStore({ now: systemClock }) } : {};
  const stores = await openStores(config, systemClock, parts);
  try {
    await stores.records.ping();
    return await closedKeys(config, stores);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return error.operatorText;
  } finally {
    await stores.close();
  }
}

/** For a command that only reads: a floor raised here would be a file of the user who runs it. */
export function keysetToRead({ keyset: storage, floor }: Stores): Keyset {
  return createKeyset({ storage, floor: { ...floor, raise: async () => undefined }, now: systemClock });
}

/** @throws OAuthError for a keyset that does not open, or a key service that does not answer */
async function closedKeys(config: Config, stores: Stores): Promise<string | undefined> {
  if (await keysetToRead(stores).look()) return undefined;
  const file = keyFileOf(config);
  if (file !== undefined && !existsSync(file)) {
    // A table is shared: a keyset made here would open nothing of the others.
    return config.store.kind === "dynamodb"
      ? `${file} is missing: copy the one that the others have`
      : cannotBeMade(file);
  }
  await stores.keyset.requireKey?.();
  return undefined;
}

/** Tries it with a folder of another name, in the nearest folder that exists, and takes it away. */
function cannotBeMade(path: string): string | undefined {
  let folder = dirname(path);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    rmdirSync(mkdtempSync(join(folder, ".broker-check-")));
    return undefined;
  } catch (error) {
    return `${path} cannot be made (${(error as NodeJS.ErrnoException).code ?? "error"} in ${folder})`;
  }
}

/**
 * Lists the vendors the broker has credentials for and counts the others: hundreds of names would
 * hide the few that matter.
 */
function usableVendors({ vendors }: Config): string {
  const usable = [...vendors.values()].filter(({ vendor, credentials }) => vendor.enabled && credentials.length > 0);
  return `${usable.map(({ vendor }) => vendor.id).join(", ") || "none"} with credentials; ${vendors.size} known`;
}

function placeOfStore({ store }: Config): string {
  if (store.kind === "memory") return "memory";
  if (store.kind === "sqlite") return `sqlite, ${store.path}`;
  return `dynamodb, table ${store.table} in ${store.region}${store.endpoint === undefined ? "" : ` at ${store.endpoint}`}`;
}

function placeOfKeys({ store, keys }: Config): string {
  if (keys.kind === "file") return keys.path;
  if (keys.kind === "kms") return `in the store, sealed under ${keys.keyArn}`;
  return store.kind === "sqlite" ? `in the store, sealed by ${store.path}.key` : "in memory";
}
