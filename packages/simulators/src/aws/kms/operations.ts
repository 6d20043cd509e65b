/** The five operations: input to output, as JSON. A response always names the key by its ARN. */
import { randomBytes } from "node:crypto";
import { parseBlob, sealBlob } from "./ciphertext.ts";
import { kmsError } from "./errors.ts";
import { ACCOUNT, keyArn, requireEnabled, type Key, type KeyRing } from "./keys.ts";
import {
  context,
  optionalChoice,
  optionalInteger,
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

const MAX_PLAINTEXT_BYTES = 4096;
const MAX_CIPHERTEXT_BYTES = 6144;
const MAX_DATA_KEY_BYTES = 1024;
const ALGORITHM = "SYMMETRIC_DEFAULT";

const generateDataKey: Operation = (input, at) => {
  requireOnly(input, ["KeyId", "EncryptionContext", "KeySpec", "NumberOfBytes"]);
  const keyId = requiredKeyId(input, "KeyId");
  const bound = context(input, "EncryptionContext");
  const spec = optionalChoice(input, "KeySpec", ["AES_256", "AES_128"]);
  const bytes = optionalInteger(input, "NumberOfBytes", 1, MAX_DATA_KEY_BYTES);
  if ((spec === undefined) === (bytes === undefined)) {
    throw kmsError("ValidationException", "Please specify either number of bytes or key spec.");
  }
  const key = enabledKey(keyId, at);
  const plaintext = randomBytes(bytes ?? (spec === "AES_128" ? 16 : 32));
  return {
    CiphertextBlob: sealBlob(key, plaintext, bound).toString("base64"),
    KeyId: keyArn(key, at.region),
    Plaintext: plaintext.toString("base64"),
  };
};

const encrypt: Operation = (input, at) => {
  requireOnly(input, ["KeyId", "Plaintext", "EncryptionContext", "EncryptionAlgorithm"]);
  const keyId = requiredKeyId(input, "KeyId");
  const plaintext = requiredBlob(input, "Plaintext", MAX_PLAINTEXT_BYTES);
  const bound = context(input, "EncryptionContext");
  optionalChoice(input, "EncryptionAlgorithm", [ALGORITHM]);
  const key = enabledKey(keyId, at);
  return {
    CiphertextBlob: sealBlob(key, plaintext, bound).toString("base64"),
    EncryptionAlgorithm: ALGORITHM,
    KeyId: keyArn(key, at.region),
  };
};

const decrypt: Operation = (input, at) => {
  requireOnly(input, ["CiphertextBlob", "EncryptionContext", "KeyId", "EncryptionAlgorithm"]);
  const blob = requiredBlob(input, "CiphertextBlob", MAX_CIPHERTEXT_BYTES);
  const bound = context(input, "EncryptionContext");
  const pinned = optionalKeyId(input, "KeyId");
  optionalChoice(input, "EncryptionAlgorithm", [ALGORITHM]);
  const { key, plaintext } = openBlob(blob, bound, pinned, at);
  return { EncryptionAlgorithm: ALGORITHM, KeyId: keyArn(key, at.region), Plaintext: plaintext.toString("base64") };
};

const reEncrypt: Operation = (input, at) => {
  requireOnly(input, [
    "CiphertextBlob",
    "SourceEncryptionContext",
    "SourceKeyId",
    "SourceEncryptionAlgorithm",
    "DestinationKeyId",
    "DestinationEncryptionContext",
    "DestinationEncryptionAlgorithm",
  ]);
  const blob = requiredBlob(input, "CiphertextBlob", MAX_CIPHERTEXT_BYTES);
  const pinned = optionalKeyId(input, "SourceKeyId");
  const destinationId = requiredKeyId(input, "DestinationKeyId");
  const bound = context(input, "SourceEncryptionContext");
  const boundAnew = context(input, "DestinationEncryptionContext");
  optionalChoice(input, "SourceEncryptionAlgorithm", [ALGORITHM]);
  optionalChoice(input, "DestinationEncryptionAlgorithm", [ALGORITHM]);
  const destination = enabledKey(destinationId, at);
  const { key, plaintext } = openBlob(blob, bound, pinned, at);
  return {
    CiphertextBlob: sealBlob(destination, plaintext, boundAnew).toString("base64"),
    DestinationEncryptionAlgorithm: ALGORITHM,
    KeyId: keyArn(destination, at.region),
    SourceEncryptionAlgorithm: ALGORITHM,
    SourceKeyId: keyArn(key, at.region),
  };
};

const describeKey: Operation = (input, { keys, region }) => {
  requireOnly(input, ["KeyId"]);
  const key = keys.find(requiredKeyId(input, "KeyId"), region);
  const state = keys.stateOf(key, region);
  return {
    KeyMetadata: {
      AWSAccountId: ACCOUNT,
      Arn: keyArn(key, region),
      Enabled: state === "Enabled",
      EncryptionAlgorithms: [ALGORITHM],
      KeyId: key.id,
      KeyManager: "CUSTOMER",
      KeySpec: ALGORITHM,
      KeyState: state,
      KeyUsage: "ENCRYPT_DECRYPT",
      MultiRegion: key.multiRegion,
      Origin: "AWS_KMS",
    },
  };
};

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  Decrypt: decrypt,
  DescribeKey: describeKey,
  Encrypt: encrypt,
  GenerateDataKey: generateDataKey,
  ReEncrypt: reEncrypt,
};

function enabledKey(keyId: string, { keys, region }: OperationContext): Key {
  const key = keys.find(keyId, region);
  requireEnabled(keys, key, region);
  return key;
}

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
