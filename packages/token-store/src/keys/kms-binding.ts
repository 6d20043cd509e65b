/**
 * Ties a data key to its encryption context, its KMS key and its ciphertext by a value of our own. KMS checks the context
 * itself; a policy, proxy or replacement that does not must not turn a data key for one place into one for another.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { KeyContext } from "@oauth-broker/oauth-core";
import { deriveKey } from "../crypto/envelope.ts";
import { TokenStoreError } from "../errors.ts";
import { associatedData } from "../crypto/associated-data.ts";

export const BINDING_BYTES = 32;

const INFO = "oauth-broker KMS data key 1: binding";

export interface BoundTo {
  readonly format: number;
  /** Of the KMS key that wrapped it. */
  readonly arn: string;
  /** KMS's CiphertextBlob. */
  readonly blob: Buffer;
  readonly context: KeyContext;
}

/**
 * HMAC-SHA-256 under a key derived from the data key; over lengths and parts, the context sorted by name.
 * It commits to the data key, and shows nothing of it.
 */
export function bindingOf(dataKey: Buffer, { format, arn, blob, context }: BoundTo): Buffer {
  const members = Object.keys(context)
    .toSorted()
    .flatMap((name) => [name, context[name] ?? ""]);
  const place = associatedData(format, ["KMS data key", arn, ...members]);
  return createHmac("sha256", deriveKey(dataKey, INFO)).update(place).update(blob).digest();
}

/**
 * Compares in constant time.
 *
 * @throws TokenStoreError unreadable when they differ
 */
export function requireBinding(expected: Buffer, actual: Buffer): void {
  //= bar#TS-4
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) {
    throw new TokenStoreError("unreadable", { detail: "its data key was made for another place" });
  }
}
