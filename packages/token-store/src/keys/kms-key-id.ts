/**
 * How a KMS key is named, by the operator (key ARN, alias ARN, key id, alias) and by KMS itself
 * (always the key ARN), and which keys an opened row may rest on. The wrapped data key names its
 * KMS key, and a writer of the table can write another name: that of a key in the writer's own
 * account, whose data keys the writer knows. KMS would open it wherever the role's policy lets it.
 * Pure.
 */
import { TokenStoreError } from "../errors.ts";
import { kmsUnavailable } from "./kms-errors.ts";

/** Who a key belongs to. Keys are trusted by owner, not one by one: an alias may move, old rows stay readable. */
export interface KeyOwner {
  readonly partition: string;
  /** 12 digits. */
  readonly account: string;
}

export interface KeyArn extends KeyOwner {
  readonly arn: string;
  readonly region: string;
  readonly id: string;
}

/** What the operator configured. */
export interface KeyReference {
  /** As configured; KMS takes all four forms. */
  readonly keyId: string;
  readonly region: string;
  /** Undefined where the form names none: known from the first answer then. */
  readonly owner: KeyOwner | undefined;
}

const PREFIX = String.raw`^arn:(aws(?:-[a-z]{1,16}){0,3}):kms:([a-z]{2,8}(?:-[a-z0-9]{1,16}){1,4}):(\d{12}):`;
const KEY = "[A-Za-z0-9-]{1,64}";
const ALIAS = "alias/[A-Za-z0-9/_-]{1,250}";
const KEY_ARN = new RegExp(`${PREFIX}key/(${KEY})$`);
const ALIAS_ARN = new RegExp(`${PREFIX}${ALIAS}$`);
const NAME_ONLY = new RegExp(`^(?:${KEY}|${ALIAS})$`);

/** @returns undefined for anything but a key ARN: alias ARNs too, which name no key for good */
export function parseKeyArn(arn: string): KeyArn | undefined {
  const [, partition, region, account, id] = KEY_ARN.exec(arn) ?? [];
  if (partition === undefined || region === undefined || account === undefined || id === undefined) return undefined;
  return { arn, partition, region, account, id };
}

/**
 * @param keyId key ARN, alias ARN, key id or `alias/name`
 * @param region where to look for one that names no region; an ARN's own wins
 * @throws TokenStoreError key_id_invalid, saying what to enter
 */
export function parseKeyReference(keyId: string, region: string | undefined): KeyReference {
  const [, partition, named, account] = KEY_ARN.exec(keyId) ?? ALIAS_ARN.exec(keyId) ?? [];
  if (partition !== undefined && named !== undefined && account !== undefined) {
    return { keyId, region: named, owner: { partition, account } };
  }
  if (!NAME_ONLY.test(keyId)) {
    throw new TokenStoreError("key_id_invalid", {
      detail: "enter the key's ARN, arn:aws:kms:REGION:ACCOUNT:key/ID, or the ARN of its alias",
    });
  }
  if (region === undefined || region === "") {
    throw new TokenStoreError("key_id_invalid", {
      detail: "it names no region: enter the key's ARN, arn:aws:kms:REGION:ACCOUNT:key/ID, or set the region beside it",
    });
  }
  return { keyId, region, owner: undefined };
}

/** A multi-Region key has the same material in every region it is replicated to, and the same id. */
function isMultiRegion({ id }: KeyArn): boolean {
  return id.startsWith("mrk-");
}

/** Whether both are the same key; replicas of one multi-Region key are. */
export function isSameKey(a: KeyArn, b: KeyArn): boolean {
  const sameId = a.id === b.id && a.account === b.account && a.partition === b.partition;
  return sameId && (a.region === b.region || isMultiRegion(a));
}

/**
 * Any key of the configured key's own account: an alias moved, or another key configured, must leave old rows readable.
 *
 * @throws TokenStoreError unreadable
 */
export function requireTrustedKey(key: KeyArn, owner: KeyOwner): void {
  if (!isOwnedBy(key, owner)) {
    throw new TokenStoreError("unreadable", { detail: "its data key was made under a KMS key of another account" });
  }
}

export function isOwnedBy(key: KeyArn, owner: KeyOwner): boolean {
  return key.account === owner.account && key.partition === owner.partition;
}

/**
 * The ARN to ask for in a region. A multi-Region key is asked for at its replica here, wherever it was used.
 *
 * @throws OAuthError temporarily_unavailable for a key that exists in another region only
 */
export function keyArnIn(region: string, key: KeyArn): string {
  if (key.region === region) return key.arn;
  //= bar#TS-14
  if (isMultiRegion(key)) return `arn:${key.partition}:kms:${region}:${key.account}:key/${key.id}`;
  throw kmsUnavailable(
    `${key.arn} is not to be had in ${region}: reseal its rows in their own region, or use a multi-Region key`,
  );
}
