/**
 * ConnectorStore on any RecordStore: one record per connector, one conditional write per change,
 * and a list of the ids. Used with the SQLite store of the data folder (../storage.ts), by any
 * number of processes at once.
 */
import { defined, OAuthError, Secret } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import { changeRecord } from "@oauth-broker/service";
import { checkName } from "@oauth-broker/service/configuration";
import {
  clientSecretPlace,
  openSecret,
  platformTokenPlace,
  type SealedStore,
  sealSecret,
} from "./connector-secrets.ts";
import { CONNECTOR, type Kept, NEVER, toConnector, toJsonData, toKept } from "./connector-record.ts";
import { idsOfConnectors, listId } from "./connector-list.ts";
import { changedSettings, NEW_SETTINGS, requireSettings, type SettingsRules } from "./settings.ts";
import { refusal } from "../refusal.ts";
import type { ConnectorStore, SettingsChange } from "./store.ts";

/** `records` is closed with the store. */
export interface ConnectorStoreDeps extends SealedStore {
  readonly rules: SettingsRules;
}

export const CONNECTOR_ID = /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/;
const ROUNDS = 8;

/** Whether a text has the format of a connector id. */
export const isConnectorId = (id: string): boolean => CONNECTOR_ID.test(id);

/**
 * Opens nothing yet. Its methods throw OAuthError temporarily_unavailable when the store or the key
 * file cannot be used.
 */
export function createConnectorStore({ records, keys, now, rules }: ConnectorStoreDeps): ConnectorStore {
  const keyOf = (id: string) => ({ kind: CONNECTOR, id });
  const find = async (id: string): Promise<Kept | undefined> => {
    const record = isConnectorId(id) ? await records.get(keyOf(id)) : undefined;
    return record && toKept(record);
  };
  const require = async (id: string): Promise<Kept> => (await find(id)) ?? noConnector();

  /** @param decide the whole of the next version */
  const change = (id: string, decide: (kept: Kept) => Promise<Kept> | Kept): Promise<Kept> =>
    changeRecord(keyOf(id), {
      records,
      rounds: ROUNDS,
      busy: "Other administrators are changing this connector. Try again",
      decide: async (before, stage = "") => {
        if (before === undefined) return noConnector();
        const result = await decide(toKept({ key: keyOf(id), stage, data: before }));
        const data = { ...toJsonData(result.data), updatedAt: now() };
        return { next: { stage: result.state, data, expiresAt: NEVER }, result };
      },
    });

  const withSettings = async (kept: Kept, asked: SettingsChange): Promise<Kept> => {
    const { clientSecret: before, ...data } = kept.data;
    requireSettings(data.settings, asked, rules);
    const settings = changedSettings(data.settings, asked);
    const sealed =
      asked.clientSecret && (await sealSecret(keys, asked.clientSecret, clientSecretPlace(kept.id, settings)));
    const clientSecret = sealed === undefined ? before : (sealed ?? undefined);
    return { ...kept, data: { ...data, settings, ...defined({ clientSecret }) } };
  };

  return {
    list: async () => {
      const found = await Promise.all((await idsOfConnectors(records)).map(find));
      return found.flatMap((kept) => (kept === undefined ? [] : [toConnector(kept)]));
    },
    find: async (id) => {
      const kept = await find(id);
      return kept && toConnector(kept);
    },
    create: async ({ id, name, settings = {}, callback = "own", withoutServer }) => {
      requireNames(id, name);
      const platformToken = await sealSecret(keys, new Secret(randomToken(32)), platformTokenPlace(id));
      const at = now();
      const fresh = { v: 1, revision: randomToken(16), name, createdAt: at, updatedAt: at, platformToken } as const;
      const state = withoutServer === undefined ? "draft" : "active";
      const kind = { callback, ...defined({ withoutServer }) };
      const empty: Kept = { id, state, data: { ...fresh, ...kind, settings: NEW_SETTINGS } };
      const made = await withSettings(empty, settings);
      // The list is written first: an id without a connector does no harm, a connector without an
      // id would be lost.
      await listId(records, id);
      const record = { key: keyOf(id), stage: state, data: toJsonData(made.data), expiresAt: NEVER };
      const created = await records.create(record);
      if (created === "exists") throw refusal("exists", "This connector already exists. Choose another name");
      return toConnector(made);
    },
    changeSettings: async (id, asked) => toConnector(await change(id, (kept) => withSettings(kept, asked))),
    changeCallback: async (id, callback) =>
      toConnector(await change(id, (kept) => ({ ...kept, data: { ...kept.data, callback } }))),
    clientSecret: async (id) => {
      const { data } = await require(id);
      return data.clientSecret && openSecret(keys, data.clientSecret, clientSecretPlace(id, data.settings));
    },
    platformToken: async (id) => openSecret(keys, (await require(id)).data.platformToken, platformTokenPlace(id)),
    claimServerUrl: async (id, serverUrl) => {
      const { data } = await change(id, (kept) => ({ ...kept, data: { serverUrl, ...kept.data } }));
      return data.serverUrl ?? serverUrl;
    },
    recordDeployment: async (deployment, state, serverUrl) =>
      toConnector(
        await change(deployment.connectorId, (kept) => ({
          ...kept,
          state: kept.state === "active" ? "active" : state,
          data: { ...kept.data, deployment, serverUrl },
        })),
      ),
    deployment: async (id) => (await find(id))?.data.deployment,
    close: () => records.close(),
  };
}

function requireNames(id: string, name: string): void {
  if (!isConnectorId(id)) {
    throw new OAuthError("invalid_request", "A connector name has 2 to 63 lower case letters, digits and -");
  }
  const problem = checkName(name);
  if (problem !== undefined) throw new OAuthError("invalid_request", `name ${problem}`);
}

function noConnector(): never {
  throw new OAuthError("not_found", "This connector does not exist");
}
