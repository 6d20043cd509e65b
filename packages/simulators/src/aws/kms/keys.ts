/**
 * The keys of one account: what a KeyId names, and in which Region. A multi-Region key is one key
 * with an ARN in every Region; everything else is in its own Region only. Aliases belong to a
 * Region, and so does a key's state.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { kmsError } from "./errors.ts";

export const ACCOUNT = "000000000000";
/** Where keys are made. */
export const HOME_REGION = "eu-west-1";

export type KeyState = "Enabled" | "Disabled" | "PendingDeletion";

export interface Key {
  /** A UUID, or `mrk-` and 32 hexadecimal digits. */
  readonly id: string;
  readonly multiRegion: boolean;
  /** Backing material of 32 bytes; the last seals, all of them open. */
  readonly materials: readonly Buffer[];
}

export type KeyRing = ReturnType<typeof createKeyRing>;

const ARN = /^arn:aws:kms:(?<region>[a-z0-9-]+):(?<account>\d{12}):(?<resource>(?:key|alias)\/.+)$/;

export function keyArn(key: Key, region: string): string {
  return `arn:aws:kms:${region}:${ACCOUNT}:key/${key.id}`;
}

/**
 * @throws Error named KMSInvalidStateException or DisabledException unless the key is enabled there
 */
export function requireEnabled(keys: KeyRing, key: Key, region: string): void {
  const state = keys.stateOf(key, region);
  const arn = keyArn(key, region);
  if (state === "Disabled") throw kmsError("DisabledException", `${arn} is disabled.`);
  if (state === "PendingDeletion") throw kmsError("KMSInvalidStateException", `${arn} is pending deletion.`);
}

export function createKeyRing() {
  const keys = new Map<string, { readonly id: string; readonly multiRegion: boolean; readonly materials: Buffer[] }>();
  /** By the alias's ARN: the id of its key. */
  const aliases = new Map<string, string>();
  /** By the key's ARN. */
  const states = new Map<string, KeyState>();

  /** @returns undefined also for a key that is in other Regions only */
  function byId(id: string, region: string): Key | undefined {
    const key = keys.get(id);
    return key !== undefined && (key.multiRegion || region === HOME_REGION) ? key : undefined;
  }

  /** @param keyId id, ARN, alias name or alias ARN. @throws Error named NotFoundException */
  function find(keyId: string, region: string): Key {
    const arn = keyId.startsWith("arn:") ? keyId : `arn:aws:kms:${region}:${ACCOUNT}:${resource(keyId)}`;
    const parts = ARN.exec(arn)?.groups;
    if (parts === undefined) throw kmsError("NotFoundException", `Invalid keyId '${keyId}'`);
    if (parts["region"] !== region) throw kmsError("NotFoundException", `Invalid arn ${parts["region"]}`);
    const isAlias = parts["resource"]?.startsWith("alias/") === true;
    const id = isAlias ? aliases.get(arn) : parts["resource"]?.slice("key/".length);
    const key = parts["account"] === ACCOUNT && id !== undefined ? byId(id, region) : undefined;
    if (key !== undefined) return key;
    throw kmsError("NotFoundException", isAlias ? `Alias ${arn} is not found.` : `Key '${arn}' does not exist`);
  }

  /**
   * Used by the switches of a test.
   *
   * @throws Error named NotFoundException: the test is wrong
   */
  function named(arn: string): { readonly key: Key; readonly region: string } {
    const region = ARN.exec(arn)?.groups?.["region"];
    if (region === undefined) throw kmsError("NotFoundException", `Not an ARN: '${arn}'`);
    return { key: find(arn, region), region };
  }

  return {
    create(multiRegion: boolean): string {
      const id = multiRegion ? `mrk-${randomBytes(16).toString("hex")}` : randomUUID();
      const key = { id, multiRegion, materials: [randomBytes(32)] };
      keys.set(id, key);
      return keyArn(key, HOME_REGION);
    },
    /** @returns the alias's ARN, in the Region of the key's ARN */
    alias(name: string, arn: string): string {
      if (!/^alias\/[\w/-]+$/.test(name)) throw kmsError("ValidationException", `Not an alias name: '${name}'`);
      const { key, region } = named(arn);
      const aliasArn = `arn:aws:kms:${region}:${ACCOUNT}:${name}`;
      aliases.set(aliasArn, key.id);
      return aliasArn;
    },
    rotate(arn: string): void {
      keys.get(named(arn).key.id)?.materials.push(randomBytes(32));
    },
    setState(arn: string, state: KeyState): void {
      const { key, region } = named(arn);
      states.set(keyArn(key, region), state);
    },
    stateOf: (key: Key, region: string): KeyState => states.get(keyArn(key, region)) ?? "Enabled",
    find,
    byId,
  };
}

function resource(keyId: string): string {
  return keyId.startsWith("alias/") ? keyId : `key/${keyId}`;
}
