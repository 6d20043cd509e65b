/**
 * ConnectorStore on any RecordStore: one record per connector, one conditional write per change,
 * and a list of the ids. Used with the SQLite store of the data folder (../storage.ts), by any
 * number of processes at once.
 */
import { type Clock, defined, type KeyWrapper, OAuthError, type RecordStore, Secret } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import { checkName } from "@oauth-broker/service/configuration";
import { clientSecretPlace, openSecret, platformTokenPlace, sealSecret } from "./connector-secrets.ts";
import {
  CONNECTOR,
  type ConnectorData,
  type Kept,
  NEVER,
  toConnector,
  toJsonData,
  toKept,
} from "./connector-record.ts";
import { idsOfConnectors, listId } from "./connector-list.ts";
import { changedSettings, NEW_SETTINGS, requireSettings, type SettingsRules } from "./settings.ts";
import type { ConnectorStore, SettingsChange } from "./store.ts";

export interface ConnectorStoreDeps {
  /** Closed with the store. */
  readonly records: RecordStore;
  readonly keys: KeyWrapper;
  readonly now: Clock;
  readonly rules: SettingsRules;
}

export const CONNECTOR_ID = /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/;
const TRIES = 8;

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

  /**
   * Reads, decides, writes. When another process wrote in between, starts again with the new
   * record.
   */
  const change = async (id: string, decide: (kept: Kept) => Promise<Change>): Promise<Kept> => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      // Tries run one after the other: each must see what the other writer stored.
      const kept = await require(id);
      // oxlint-disable-next-line no-await-in-loop
      const { state = kept.state, remove = [], ...set } = await decide(kept);
      // oxlint-disable-next-line no-await-in-loop
      const advanced = await records.advance(
        keyOf(id),
        { stage: kept.state, expect: { revision: kept.data.revision } },
        { stage: state, set: toJsonData({ ...set, revision: randomToken(16), updatedAt: now() }), remove },
      );
      if (advanced.outcome === "moved") return toKept(advanced.record);
    }
    throw new OAuthError("temporarily_unavailable", "Other administrators are changing this connector. Try again");
  };

  const settingsChange = async ({ id, data }: Kept, asked: SettingsChange): Promise<Change> => {
    requireSettings(data.settings, asked, rules);
    const settings = changedSettings(data.settings, asked);
    const { clientSecret } = asked;
    if (clientSecret === undefined) return { settings };
    if (clientSecret === null) return { settings, remove: ["clientSecret"] };
    return { settings, clientSecret: await sealSecret(keys, clientSecret, clientSecretPlace(id, settings)) };
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
      const data = toJsonData({ ...empty.data, ...(await settingsChange(empty, settings)) });
      // The list is written first: an id without a connector does no harm, a connector without an
      // id would be lost.
      await listId(records, id);
      const created = await records.create({ key: keyOf(id), stage: state, data, expiresAt: NEVER });
      if (created === "exists")
        throw new OAuthError("invalid_request", "This connector already exists. Choose another name", {
          reason: "exists",
        });
      return toConnector(await require(id));
    },
    changeSettings: async (id, asked) => toConnector(await change(id, (kept) => settingsChange(kept, asked))),
    changeCallback: async (id, callback) => toConnector(await change(id, async () => ({ callback }))),
    clientSecret: async (id) => {
      const { data } = await require(id);
      return data.clientSecret && openSecret(keys, data.clientSecret, clientSecretPlace(id, data.settings));
    },
    platformToken: async (id) => openSecret(keys, (await require(id)).data.platformToken, platformTokenPlace(id)),
    claimServerUrl: async (id, serverUrl) => {
      const kept = await change(id, async ({ data }) => ({ serverUrl: data.serverUrl ?? serverUrl }));
      return kept.data.serverUrl ?? serverUrl;
    },
    recordDeployment: async (deployment, state, serverUrl) =>
      toConnector(
        await change(deployment.connectorId, async (kept) => ({
          deployment,
          serverUrl,
          state: kept.state === "active" ? "active" : state,
        })),
      ),
    deployment: async (id) => (await find(id))?.data.deployment,
    close: () => records.close(),
  };
}

type Change = Partial<Omit<ConnectorData, "v" | "revision" | "updatedAt">> & {
  readonly state?: Kept["state"];
  readonly remove?: readonly string[];
};

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
