/**
 * A data key wrapped by KMS, as a row stores it.
 *
 * Format 1, base64url of: format (1 byte, 0x01) | length of the ARN (1) | ARN of the KMS key |
 * binding (32) | CiphertextBlob. About 400 characters. The ARN is included so that KMS is asked for
 * that key and no other (kms-key-id.ts decides which are acceptable). The binding ties the data key
 * to its encryption context, its KMS key and its ciphertext. KMS checks the context itself; if a
 * policy, proxy or replacement does not, a data key for one place must still not become one for
 * another.
 */
import { timingSafeEqual } from "node:crypto";
import { hmac, type KeyContext } from "@oauth-broker/oauth-core";
import { associatedData, decodeCanonical } from "../crypto/encoding.ts";
import { deriveKey } from "../crypto/envelope.ts";
import { TokenStoreError } from "../errors.ts";
import { type KeyArn, parseKeyArn } from "./kms-key-id.ts";

const WRAPPED_FORMAT = 1;

const BINDING_BYTES = 32;

const ARN_AT = 2;
/** KMS accepts no longer CiphertextBlob. */
const LONGEST_BLOB_BYTES = 6144;
const LONGEST_HEAD = Math.ceil(((ARN_AT + 255) * 4) / 3);
const LONGEST_WRAPPED = Math.ceil(((ARN_AT + 255 + BINDING_BYTES + LONGEST_BLOB_BYTES) * 4) / 3);

export interface WrappedKey {
  /** The KMS key that wrapped it. */
  readonly key: KeyArn;
  readonly binding: Buffer;
  /** KMS's CiphertextBlob. */
  readonly blob: Buffer;
}

/** @returns base64url without padding */
export function encodeWrapped({ key, binding, blob }: WrappedKey): string {
  const arn = Buffer.from(key.arn, "latin1");
  return Buffer.concat([Buffer.of(WRAPPED_FORMAT, arn.length), arn, binding, blob]).toString("base64url");
}

/**
 * Cheap: only the beginning is decoded.
 *
 * @returns undefined for a value that is not a wrapped key of this format
 */
export function keyOfWrapped(wrapped: string): KeyArn | undefined {
  const head = Buffer.from(wrapped.slice(0, LONGEST_HEAD), "base64url");
  return head[0] === WRAPPED_FORMAT ? parseKeyArn(head.toString("latin1", ARN_AT, ARN_AT + (head[1] ?? 0))) : undefined;
}

/**
 * The inverse; nothing in the result is authenticated yet.
 *
 * @throws TokenStoreError unreadable, format_unknown
 */
export function parseWrapped(wrapped: string): WrappedKey {
  if (wrapped.length > LONGEST_WRAPPED) throw new TokenStoreError("unreadable");
  const bytes = decodeCanonical(wrapped);
  const [format, arnLength = 0] = bytes;
  if (format === undefined) throw new TokenStoreError("unreadable");
  if (format !== WRAPPED_FORMAT) throw new TokenStoreError("format_unknown");
  const bindingAt = ARN_AT + arnLength;
  const blobAt = bindingAt + BINDING_BYTES;
  const key = parseKeyArn(bytes.toString("latin1", ARN_AT, bindingAt));
  if (key === undefined || bytes.length <= blobAt) throw new TokenStoreError("unreadable");
  return { key, binding: bytes.subarray(bindingAt, blobAt), blob: bytes.subarray(blobAt) };
}

const INFO = "oauth-broker KMS data key 1: binding";

/**
 * HMAC-SHA-256 under a key derived from the data key; over lengths and parts, the context sorted by
 * name. It commits to the data key, and reveals nothing of it.
 */
export function bindingOf(
  dataKey: Buffer,
  { key: { arn }, blob }: Pick<WrappedKey, "key" | "blob">,
  context: KeyContext,
): Buffer {
  const members = Object.keys(context)
    .toSorted()
    .flatMap((name) => [name, context[name] ?? ""]);
  const place = associatedData(WRAPPED_FORMAT, ["KMS data key", arn, ...members]);
  return hmac("sha256", deriveKey(dataKey, INFO), Buffer.concat([place, blob]));
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
