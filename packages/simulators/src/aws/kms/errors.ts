/** The errors of KMS, by the names the SDK knows. */

/** The status of each; KMS answers 400 for every mistake of the caller. */
const STATUS = {
  AccessDeniedException: 400,
  DependencyTimeoutException: 503,
  DisabledException: 400,
  IncompleteSignatureException: 400,
  IncorrectKeyException: 400,
  InvalidCiphertextException: 400,
  InvalidSignatureException: 400,
  KMSInternalException: 500,
  KMSInvalidStateException: 400,
  MissingAuthenticationTokenException: 400,
  NotFoundException: 400,
  RequestEntityTooLargeException: 413,
  SerializationException: 400,
  ThrottlingException: 400,
  UnknownOperationException: 400,
  ValidationException: 400,
} as const;

export type KmsErrorName = keyof typeof STATUS;

/** @param message KMS sends none with some errors */
export function kmsError(name: KmsErrorName, message = ""): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}

/**
 * @returns the response for an error made by `kmsError`; any other error is our bug and
 *   rethrown
 */
export function errorAnswer(error: unknown): { readonly status: number; readonly body: object } {
  if (!(error instanceof Error) || !Object.hasOwn(STATUS, error.name)) throw error;
  const message = error.message === "" ? {} : { message: error.message };
  return { status: STATUS[error.name as KmsErrorName], body: { __type: error.name, ...message } };
}
