/**
 * Which KMS keys an opened row may rest on. The wrapped data key names its KMS key, and whoever can write the table can
 * write another name: that of a key in an account of his own, whose data keys he knows. KMS would open it wherever the
 * role's policy lets it.
 */
import { TokenStoreError } from "../errors.ts";
import { isMultiRegion, type KeyArn, type KeyOwner } from "./kms-key-id.ts";
import { kmsUnavailable } from "./kms-unavailable.ts";

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
