/**
 * The sealed secrets of a connector: its client's, and those of its users' flows, connections and
 * pending calls. Each is sealed under its own data key, which only the key file
 * of the data folder unwraps, and bound to what it was entered for. A row copied to another
 * connector, or settings changed beside it, make it unreadable.
 */
import {
  type Clock,
  type JsonObject,
  type KeyWrapper,
  OAuthError,
  type RecordStore,
  Secret,
} from "@oauth-broker/oauth-core";
import { open, seal } from "@oauth-broker/token-store";
import type { ConnectorSettings } from "./connector.ts";
import { secretRecipient } from "./settings.ts";

/** Records, and what seals the secrets in them. */
export interface SealedStore {
  readonly records: RecordStore;
  readonly keys: KeyWrapper;
  readonly now: Clock;
}

const KEY_CONTEXT = { purpose: "connector secret" };

/**
 * @returns what a record may hold
 * @throws OAuthError temporarily_unavailable when the key file cannot be read
 */
export async function sealSecret(keys: KeyWrapper, secret: Secret, place: readonly string[]): Promise<JsonObject> {
  const { dataKey, wrapped } = await keys.newDataKey(KEY_CONTEXT).catch(unavailable);
  return { wrapped, sealed: seal(dataKey, secret.reveal(), place) };
}

/**
 * @throws OAuthError temporarily_unavailable for another key file, another place, or an altered row
 */
export async function openSecret(keys: KeyWrapper, kept: JsonObject, place: readonly string[]): Promise<Secret> {
  const { wrapped, sealed } = kept;
  if (typeof wrapped !== "string" || typeof sealed !== "string") throw new TypeError("not a sealed secret");
  try {
    return new Secret(open(await keys.unwrap(wrapped, KEY_CONTEXT), sealed, place).toString("utf8"));
  } catch (cause) {
    return unavailable(cause);
  }
}

export const clientSecretPlace = (id: string, settings: ConnectorSettings): readonly string[] => [
  "client secret of a connector",
  id,
  ...secretRecipient(settings),
];

export const platformTokenPlace = (id: string): readonly string[] => ["platform token of a connector", id];

const REMEDY =
  "Restore platform.key of the data folder. If it is lost, so are the secrets and connections that it opens: move the folder away and begin again with deploy init";

function unavailable(cause: unknown): never {
  throw new OAuthError("temporarily_unavailable", "A secret of this connector cannot be opened or kept", {
    reason: "keys_unavailable",
    cause,
    detail: `${cause instanceof Error ? cause.message : "unknown"}. ${REMEDY}`,
  });
}
