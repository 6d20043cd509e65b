/**
 * How a KMS key is named, by the operator (key ARN, alias ARN, key id, alias) and by KMS itself
 * (always the key ARN), and which keys may open a row. The wrapped data key names its KMS key, and
 * an attacker who can write the table can name another one: a key in the attacker's own account,
 * whose data keys the attacker knows. KMS would open it wherever the role's policy permits. Pure.
 */
import { TokenStoreError } from "../errors.ts";
import { kmsUnavailable } from "./kms-errors.ts";

/**
 * The owner of a key. Keys are trusted by owner, not one by one: when an alias moves, old rows stay
 * readable.
 */
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
  /** Undefined when the configured form does not name it: then known from the first response. */
  readonly owner: KeyOwner | undefined;
}

const PREFIX = String.raw`^arn:(aws(?:-[a-z]{1,16}){0,3}):kms:([a-z]{2,8}(?:-[a-z0-9]{1,16}){1,4}):(\d{12}):`;
const KEY = "[A-Za-z0-9-]{1,64}";
const ALIAS = "alias/[A-Za-z0-9/_-]{1,250}";
const KEY_ARN = new RegExp(`${PREFIX}key/(${KEY})$`);
const ALIAS_ARN = new RegExp(`${PREFIX}${ALIAS}$`);
const NAME_ONLY = new RegExp(`^(?:${KEY}|${ALIAS})$`);

/**
 * @returns undefined for anything but a key ARN, including alias ARNs, which do not name a key
 *   permanently
 */
export function parseKeyArn(arn: string): KeyArn | undefined {
  const [, partition, region, account, id] = KEY_ARN.exec(arn) ?? [];
  if (partition === undefined || region === undefined || account === undefined || id === undefined) return undefined;
  return { arn, partition, region, account, id };
}

/**
 * @param keyId key ARN, alias ARN, key id or `alias/name`
 * @param region for a form that names no region; an ARN's own region takes precedence
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

/** A multi-Region key has the same material and the same id in every region it is replicated to. */
function isMultiRegion({ id }: KeyArn): boolean {
  return id.startsWith("mrk-");
}

/** Whether both are the same key; replicas of one multi-Region key are. */
export function isSameKey(a: KeyArn, b: KeyArn): boolean {
  const sameId = a.id === b.id && a.account === b.account && a.partition === b.partition;
  return sameId && (a.region === b.region || isMultiRegion(a));
}

/**
 * Any key of the configured key's own account: when an alias moves, or another key is configured,
 * old rows must stay readable.
 *
 * @throws TokenStoreError unreadable
 */
export function requireTrustedKey(key: KeyArn, owner: KeyOwner): void {
  if (!isOwnedBy(key, owner)) {
    throw new TokenStoreError("unreadable", { detail: "its data key was made under a KMS key of another account" });
  }
}

export function isOwnedBy(key: KeyArn, owner: KeyOwner): boolean {
  //= bar#TS-4
  return key.account === owner.account && key.partition === owner.partition;
}

/**
 * The ARN to request in a region. A multi-Region key is requested at its replica here, wherever it
 * was used.
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
