/**
 * Translates the errors of the AWS SDK, once: what happened to the request, and what the operator
 * can do.
 *
 * The SDK's own error is dropped, not kept as `cause`. It may carry the response it could not
 * parse, and such a response may hold a data key in plaintext; even the message of a JSON error
 * quotes the text around the fault.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { NO_URL, UNSENDABLE } from "../aws-requests.ts";
import { TokenStoreError } from "../errors.ts";

/**
 * When a caller may try again; a recovered service is in use again well within the bar's ten
 * seconds.
 */
const RETRY_AFTER_SECONDS = 5;

/**
 * No data key is available now: the key service failed, or too many calls already wait for it.
 * Nothing is sealed or opened then, and the failure is not remembered: the next call asks again.
 *
 * @param detail for the operator: what happened and what to do. Never a wrapped key
 */
export function kmsUnavailable(detail: string): OAuthError {
  //= bar#TS-12
  return new OAuthError("temporarily_unavailable", "The key service does not respond", {
    reason: "kms_unavailable",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    detail,
  });
}

export type KmsOperation = "GenerateDataKey" | "Decrypt";

/**
 * `outage`: it may pass without a change here. `refused`: only another configuration helps, so a
 * start fails. `unreadable`: KMS received this wrapped key and refuses to open it.
 */
type Kind = "outage" | "refused" | "unreadable";

const SILENT = "KMS does not respond in time: look at its status, the network path and the VPC endpoint";
const CREDENTIALS =
  "the AWS credentials are missing, expired or not valid: look at the task role, and at the clock of this machine";
const ODD = "KMS gives no usable answer: look at its status, the network path and the VPC endpoint";
const WRONG_KEY =
  "this region and account have no such key: compare the configured key id, and the region if it names none";
const WRONG_KIND = "the key is not for this: a symmetric encryption key (SYMMETRIC_DEFAULT, ENCRYPT_DECRYPT) is needed";

/** By name: exceptions of the service and errors of the SDK. Those of Node.js by code. */
const FAILURES: Readonly<Record<string, readonly [Kind, string]>> = {
  InvalidCiphertextException: ["unreadable", "KMS does not open it"],
  IncorrectKeyException: ["unreadable", "KMS does not open it"],
  ThrottlingException: ["outage", "KMS throttles: look for what else uses the quota of the account, or raise it"],
  LimitExceededException: ["outage", "KMS throttles: look for what else uses the quota of the account, or raise it"],
  DisabledException: ["outage", "the key is disabled: enable it"],
  KMSInvalidStateException: ["outage", "the key cannot be used, it may be pending deletion: cancel that and enable it"],
  KeyUnavailableException: ["outage", "KMS has the key but cannot use it now: look at the key's store"],
  TimeoutError: ["outage", SILENT],
  AccessDeniedException: [
    "refused",
    "the role may not use the key: permit it kms:GenerateDataKey and kms:Decrypt, in its own policy or the key's",
  ],
  NotFoundException: ["refused", WRONG_KEY],
  InvalidArnException: ["refused", WRONG_KEY],
  ValidationException: ["refused", WRONG_KEY],
  InvalidKeyUsageException: ["refused", WRONG_KIND],
  UnsupportedOperationException: ["refused", WRONG_KIND],
  CredentialsProviderError: ["refused", CREDENTIALS],
  UnrecognizedClientException: ["refused", CREDENTIALS],
  InvalidSignatureException: ["refused", CREDENTIALS],
  ExpiredTokenException: ["refused", CREDENTIALS],
  MissingAuthenticationTokenException: ["refused", CREDENTIALS],
  ERR_INVALID_URL: ["refused", `AWS_ENDPOINT_URL_KMS or AWS_ENDPOINT_URL ${NO_URL}`],
  ERR_INVALID_CHAR: ["refused", UNSENDABLE],
};

/**
 * While serving, a failure that only the operator can repair is an outage to every caller; at start
 * a wrong configuration is an error at once.
 *
 * @param key the requested key, a name and not a secret
 */
export function kmsError(
  error: unknown,
  operation: KmsOperation,
  key: string,
  { atStart = false } = {},
): OAuthError | TokenStoreError {
  if (error instanceof OAuthError || error instanceof TokenStoreError) return error;
  // Only fields that are names. Messages and bodies are not copied.
  const { name, code, $metadata } = error instanceof Error ? (error as Failure) : {};
  const named = plain(name) ?? "unknown";
  const requestId = plain($metadata?.requestId);
  const [kind, remedy] = FAILURES[named] ?? FAILURES[plain(code) ?? ""] ?? ["outage", ODD];
  const request = requestId === undefined ? undefined : `request ${requestId}`;
  const facts = [`${operation} with ${key}`, named, plain(code), request];
  const detail = `${facts.filter((fact) => fact !== undefined).join(", ")}: ${remedy}`;
  if (atStart && kind === "refused") return new TokenStoreError("key_service_refused", { detail });
  return !atStart && kind === "unreadable" ? new TokenStoreError("unreadable", { detail }) : kmsUnavailable(detail);
}

type Failure = Error & { readonly code?: unknown; readonly $metadata?: { readonly requestId?: unknown } };

function plain(text: unknown): string | undefined {
  return typeof text === "string" && /^[\w.-]{1,64}$/.test(text) ? text : undefined;
}
