/** The two operations of the task role: input to output, as JSON. A response always names the key by its ARN. */
import { randomBytes } from "node:crypto";
import { parseBlob, sealBlob } from "./ciphertext.ts";
import { kmsError } from "./errors.ts";
import { keyArn, requireEnabled, type Key, type KeyRing } from "./keys.ts";
import {
  context,
  optionalChoice,
  optionalKeyId,
  requiredBlob,
  requiredKeyId,
  requireOnly,
  type Input,
} from "./members.ts";

export interface OperationContext {
  readonly keys: KeyRing;
  /** The region of the endpoint that was called. */
  readonly region: string;
  readonly ignoresEncryptionContext: boolean;
}

type Operation = (input: Input, at: OperationContext) => Readonly<Record<string, unknown>>;

const MAX_CIPHERTEXT_BYTES = 6144;
const ALGORITHM = "SYMMETRIC_DEFAULT";

const generateDataKey: Operation = (input, at) => {
  requireOnly(input, ["KeyId", "EncryptionContext", "KeySpec"]);
  const keyId = requiredKeyId(input, "KeyId");
  const bound = context(input, "EncryptionContext");
  if (optionalChoice(input, "KeySpec", ["AES_256"]) === undefined) {
    throw kmsError("ValidationException", "Please specify either number of bytes or key spec.");
  }
  const key = at.keys.find(keyId, at.region);
  requireEnabled(at.keys, key, at.region);
  const plaintext = randomBytes(32);
  return {
    CiphertextBlob: sealBlob(key, plaintext, bound).toString("base64"),
    KeyId: keyArn(key, at.region),
    Plaintext: plaintext.toString("base64"),
  };
};

const decrypt: Operation = (input, at) => {
  requireOnly(input, ["CiphertextBlob", "EncryptionContext", "KeyId"]);
  const blob = requiredBlob(input, "CiphertextBlob", MAX_CIPHERTEXT_BYTES);
  const bound = context(input, "EncryptionContext");
  const pinned = optionalKeyId(input, "KeyId");
  const { key, plaintext } = openBlob(blob, bound, pinned, at);
  return { EncryptionAlgorithm: ALGORITHM, KeyId: keyArn(key, at.region), Plaintext: plaintext.toString("base64") };
};

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  Decrypt: decrypt,
  GenerateDataKey: generateDataKey,
};

/** @param pinned the key the caller requires */
function openBlob(
  blob: Buffer,
  bound: Readonly<Record<string, string>>,
  pinned: string | undefined,
  { keys, region, ignoresEncryptionContext }: OperationContext,
): { readonly key: Key; readonly plaintext: Buffer } {
  const parsed = parseBlob(blob);
  const key = keys.byId(parsed.keyId, region);
  if (pinned !== undefined && keys.find(pinned, region) !== key) {
    throw kmsError(
      "IncorrectKeyException",
      "The key ID in the request does not identify a CMK that can perform this operation.",
    );
  }
  if (key === undefined) throw kmsError("InvalidCiphertextException");
  requireEnabled(keys, key, region);
  return { key, plaintext: parsed.open(key, ignoresEncryptionContext ? "ignored" : bound) };
}
