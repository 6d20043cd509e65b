/**
 * A KeyWrapper whose root is a key in AWS KMS: the process never sees the root, and every use of it
 * is in CloudTrail. The only importer of the KMS client. Calls GenerateDataKey and Decrypt and
 * nothing else, as the task role permits. Hot paths use it through data-keys.ts; the broker wraps
 * its keyset with it directly.
 */
import { createSharedCalls, defined, type KeyContext, type KeyWrapper } from "@oauth-broker/oauth-core";
import { DecryptCommand, GenerateDataKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { awsRequests } from "../aws-requests.ts";
import { KEY_BYTES } from "../crypto/aes-gcm.ts";
import { TokenStoreError } from "../errors.ts";
import { bindingOf, encodeWrapped, keyOfWrapped, parseWrapped, requireBinding } from "./kms-wrapped.ts";
import { kmsError, type KmsOperation, kmsUnavailable } from "./kms-errors.ts";
import {
  isOwnedBy,
  isSameKey,
  type KeyArn,
  keyArnIn,
  type KeyOwner,
  parseKeyArn,
  parseKeyReference,
  requireTrustedKey,
} from "./kms-key-id.ts";

/** Over all attempts; callers promise a response within five seconds. */
const DEADLINE_MS = 4500;

/** Which key of AWS KMS, and how it is reached. */
export interface KmsKeyWrapperOptions {
  /** ARN of a key or of an alias; with `region` also a key id or `alias/name`. */
  readonly keyId: string;
  /** Used only when `keyId` names no region. */
  readonly region?: string;
  /** An endpoint other than AWS's own, for tests and private endpoints. */
  readonly endpoint?: string;
  /** For one call over all its attempts, in milliseconds. Default 4500. */
  readonly deadlineMs?: number;
}

/** A KeyWrapper whose root key never leaves AWS KMS. */
export interface KmsKeyWrapper extends KeyWrapper {
  /**
   * Makes a data key and discards it, at process start: finds a wrong key while an operator is
   * watching.
   *
   * @throws TokenStoreError key_service_refused when only another configuration helps; OAuthError
   *   temporarily_unavailable, reason `kms_unavailable`, when it may pass (a disabled key may be
   *   enabled again)
   */
  check(context: KeyContext): Promise<void>;
  /** False until this process has made a data key. */
  isStale(wrapped: string): boolean;
  /** Closes the connections kept open. */
  close(): void;
}

/**
 * Data keys under a KMS key. Every method throws OAuthError temporarily_unavailable, reason
 * `kms_unavailable`, when KMS cannot help now, with the operator's remedy as `detail`; `unwrap`
 * throws TokenStoreError unreadable or format_unknown for a value that was altered, made for
 * another context, or wrapped under a key of another account.
 *
 * @throws TokenStoreError key_id_invalid at once
 */
export function kmsKeyWrapper(options: KmsKeyWrapperOptions): KmsKeyWrapper {
  const { endpoint, deadlineMs = DEADLINE_MS } = options;
  const configured = parseKeyReference(options.keyId, options.region);
  const { keyId, region } = configured;
  const client = openClient(region, endpoint);
  let { owner } = configured;
  const learning = createSharedCalls<KeyOwner>();
  /** The KMS key of the newest data key: the alias target, as far as this process knows. */
  let newest: KeyArn | undefined;

  const generate = async (context: KeyContext, atStart = false) => {
    const command = new GenerateDataKeyCommand({ KeyId: keyId, KeySpec: "AES_256", EncryptionContext: { ...context } });
    const asked = ["GenerateDataKey", keyId, { atStart }] as const;
    const answer = await withinDeadline(deadlineMs, asked, (abortSignal) => client.send(command, { abortSignal }));
    const dataKey = takeKey(answer.Plaintext);
    const key = parseKeyArn(answer.KeyId ?? "");
    const blob = Buffer.from(answer.CiphertextBlob ?? []);
    // A key that `unwrap` would refuse must not be used for sealing.
    if (dataKey === undefined || key === undefined || blob.length === 0 || !isOwnedBy(key, owner ?? key)) {
      throw kmsUnavailable(
        `GenerateDataKey with ${keyId} gave no data key of ${KEY_BYTES} bytes under one of our keys`,
      );
    }
    owner ??= key;
    newest = key;
    return { dataKey, key, blob };
  };

  /** @returns the KMS key it was made under */
  const makeAndDiscard = async (context: KeyContext, atStart = false): Promise<KeyArn> => {
    const { dataKey, key } = await generate(context, atStart);
    dataKey.fill(0);
    return key;
  };

  return {
    newDataKey: async (context) => {
      const { dataKey, key, blob } = await generate(context);
      const binding = bindingOf(dataKey, { key, blob }, context);
      return { dataKey, wrapped: encodeWrapped({ key, binding, blob }) };
    },

    unwrap: async (wrapped, context) => {
      const { key, binding, blob } = parseWrapped(wrapped);
      // When the configured key is named without its account, finding it costs one data key, once.
      requireTrustedKey(key, owner ?? (await learning.run("", () => makeAndDiscard(context))));
      const pinned = keyArnIn(region, key);
      const command = new DecryptCommand({ KeyId: pinned, CiphertextBlob: blob, EncryptionContext: { ...context } });
      const asked = ["Decrypt", pinned] as const;
      const answer = await withinDeadline(deadlineMs, asked, (abortSignal) => client.send(command, { abortSignal }));
      const dataKey = takeKey(answer.Plaintext);
      if (dataKey === undefined || answer.KeyId !== pinned) throw new TokenStoreError("unreadable");
      requireBinding(binding, bindingOf(dataKey, { key, blob }, context));
      return dataKey;
    },

    check: async (context) => {
      await makeAndDiscard(context, true);
    },

    isStale: (wrapped) => {
      const key = keyOfWrapped(wrapped);
      return key !== undefined && newest !== undefined && !isSameKey(key, newest);
    },

    close: () => client.destroy(),
  };
}

function openClient(region: string, endpoint: string | undefined): KMSClient {
  return new KMSClient({
    region,
    ...defined({ endpoint }),
    maxAttempts: 3,
    // Waits a random part of 50, then 100 ms between attempts; of 1 and 2 s if KMS throttles.
    retryMode: "standard",
    requestHandler: awsRequests(),
  });
}

/** The race in addition to the signal: the search for credentials ignores the signal. */
async function withinDeadline<T>(
  deadlineMs: number,
  asked: readonly [KmsOperation, key: string, options?: { readonly atStart: boolean }],
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(deadlineMs);
  const passed = Promise.withResolvers<never>();
  // Before the call, so that the error is the one of the deadline.
  signal.addEventListener("abort", () => passed.reject(signal.reason));
  return Promise.race([call(signal), passed.promise]).catch((error: unknown) => {
    throw kmsError(error, ...asked);
  });
}

/**
 * Copied to separate memory: the SDK's buffer is in a pool shared with others, and is
 * overwritten here.
 */
function takeKey(plaintext: Uint8Array | undefined): Buffer | undefined {
  if (plaintext?.length !== KEY_BYTES) return undefined;
  const dataKey = Buffer.allocUnsafeSlow(KEY_BYTES);
  dataKey.set(plaintext);
  plaintext.fill(0);
  return dataKey;
}
