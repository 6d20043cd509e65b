/**
 * Stores connectors with their secrets and deployments, on any RecordStore: one record per
 * connector, one conditional write per change, and a list of the ids. Used with the SQLite store of
 * the data folder (../storage.ts), by any number of processes at once. Secrets are sealed under the
 * key file of that folder. Users' connections are in oauth/connections.ts.
 */
import { defined, OAuthError, Secret } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import { checkName } from "@oauth-broker/service/configuration";
import {
  clientSecretPlace,
  openSecret,
  platformTokenPlace,
  type SealedStore,
  sealSecret,
} from "./connector-secrets.ts";
import { type ConnectorData, type KeptConnector, toConnector } from "./connector-record.ts";
import type { Connector, ConnectorState, Deployment, NewConnector, SettingsChange } from "./connector.ts";
import { keptRecords } from "./kept-records.ts";
import { changedSettings, NEW_SETTINGS, requireSettings, type SettingsRules } from "./settings.ts";
import { refusal } from "../refusal.ts";

export type ConnectorStore = ReturnType<typeof createConnectorStore>;

/** `records` is closed with the store. */
export interface ConnectorStoreDeps extends SealedStore {
  readonly rules: SettingsRules;
}

export const CONNECTOR_ID = /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/;
const BUSY = "Other administrators are changing this connector. Try again";
const LIST_BUSY = "Other administrators are adding connectors. Try again";

/** The one record of their ids: a RecordStore finds records by key only. */
interface ListData {
  readonly v: 1;
  readonly ids: readonly string[];
}

/** Whether a text has the format of a connector id. */
export const isConnectorId = (id: string): boolean => CONNECTOR_ID.test(id);

/**
 * Opens nothing yet. Its methods throw OAuthError temporarily_unavailable when the store or the key
 * file cannot be used.
 */
export function createConnectorStore({ records, keys, now, rules }: ConnectorStoreDeps) {
  const kept = keptRecords<ConnectorState, ConnectorData>(records, "connector", BUSY);
  const list = keptRecords<"list", ListData>(records, "connector-list", LIST_BUSY);
  const find = async (id: string): Promise<KeptConnector | undefined> =>
    isConnectorId(id) ? kept.find(id) : undefined;
  const require = async (id: string): Promise<KeptConnector> => (await find(id)) ?? noConnector();

  /** @param decide the whole of the next version */
  const change = async (id: string, decide: (before: KeptConnector) => Promise<KeptConnector> | KeptConnector) => {
    const changed = await kept.change(id, async (before) => {
      const next = await decide(before ?? noConnector());
      return { ...next, data: { ...next.data, updatedAt: now() } };
    });
    return toConnector(changed);
  };

  const withSettings = async (kept: KeptConnector, asked: SettingsChange): Promise<KeptConnector> => {
    const { clientSecret: before, ...data } = kept.data;
    requireSettings(data.settings, asked, rules);
    const settings = changedSettings(data.settings, asked);
    const sealed =
      asked.clientSecret && (await sealSecret(keys, asked.clientSecret, clientSecretPlace(kept.id, settings)));
    const clientSecret = sealed === undefined ? before : (sealed ?? undefined);
    return { ...kept, data: { ...data, settings, ...defined({ clientSecret }) } };
  };

  return {
    list: async (): Promise<readonly Connector[]> => {
      const ids = (await list.find("all"))?.data.ids ?? [];
      const found = await Promise.all(ids.map(find));
      return found.flatMap((kept) => (kept === undefined ? [] : [toConnector(kept)]));
    },
    find: async (id: string): Promise<Connector | undefined> => {
      const kept = await find(id);
      return kept && toConnector(kept);
    },
    /**
     * @throws OAuthError invalid_request for a name that is taken or malformed, and for settings as
     *   `changeSettings`
     */
    create: async ({ id, name, settings = {}, callback = "own", withoutServer }: NewConnector): Promise<Connector> => {
      requireNames(id, name);
      const platformToken = await sealSecret(keys, new Secret(randomToken(32)), platformTokenPlace(id));
      const at = now();
      const fresh = { v: 1, name, createdAt: at, updatedAt: at, platformToken } as const;
      const state = withoutServer === undefined ? "draft" : "active";
      const kind = { callback, ...defined({ withoutServer }) };
      const empty: KeptConnector = { id, state, data: { ...fresh, ...kind, settings: NEW_SETTINGS } };
      const made = await withSettings(empty, settings);
      // The list is written first: an id without a connector does no harm, a connector without an
      // id would be lost.
      await list.change("all", (before) => {
        const ids = before?.data.ids ?? [];
        return ids.includes(id) ? undefined : { state: "list" as const, data: { v: 1, ids: [...ids, id].toSorted() } };
      });
      await kept.change(id, (before) => {
        if (before === undefined) return made;
        throw refusal("exists", "This connector already exists. Choose another name");
      });
      return toConnector(made);
    },
    /**
     * One conditional write.
     * @throws OAuthError invalid_request for settings that contradict each other
     */
    changeSettings: (id: string, asked: SettingsChange) => change(id, (kept) => withSettings(kept, asked)),
    /** Users of a hosted server have to connect again then, because its client changes. */
    changeCallback: (id: string, callback: Connector["callback"]) =>
      change(id, (kept) => ({ ...kept, data: { ...kept.data, callback } })),
    clientSecret: async (id: string): Promise<Secret | undefined> => {
      const { data } = await require(id);
      return data.clientSecret && openSecret(keys, data.clientSecret, clientSecretPlace(id, data.settings));
    },
    /**
     * The platform's own bearer token, for servers without OAuth: the ingress checks it, and no
     * server sees it.
     */
    platformToken: async (id: string): Promise<Secret> =>
      openSecret(keys, (await require(id)).data.platformToken, platformTokenPlace(id)),
    /**
     * Fixes the address of the server before anything is started there.
     *
     * @returns the address in force: that of the first deploy, even if another is offered later
     */
    claimServerUrl: async (id: string, serverUrl: string): Promise<string> => {
      const claimed = await change(id, (kept) => ({ ...kept, data: { serverUrl, ...kept.data } }));
      return claimed.serverUrl ?? serverUrl;
    },
    /** Writes deployment and state together. An active connector stays active. */
    recordDeployment: (deployment: Deployment, state: ConnectorState, serverUrl: string) =>
      change(deployment.connectorId, (kept) => ({
        ...kept,
        state: kept.state === "active" ? "active" : state,
        data: { ...kept.data, deployment, serverUrl },
      })),
    deployment: async (id: string): Promise<Deployment | undefined> => (await find(id))?.data.deployment,
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
