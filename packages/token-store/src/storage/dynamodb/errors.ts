/**
 * What DynamoDB's errors mean to the two who can act: the caller tries again later, the operator
 * reads what to repair. Translated here, once. DynamoDB's own messages stay in `cause`: they may
 * quote what was sent.
 */
import type { OAuthError } from "@oauth-broker/oauth-core";
import { storeUnavailable, TokenStoreError } from "../../errors.ts";
import { NO_URL, UNSENDABLE } from "../../aws-requests.ts";
import { ROLE_ACTIONS } from "../../provision.ts";

export interface Place {
  readonly table: string;
  readonly region: string;
  readonly endpoint?: string;
}

type Advice = (place: Place) => string;

const credentials: Advice = () =>
  "the AWS credentials were refused or not found: give this process a role, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
const throttled: Advice = ({ table }) =>
  `table ${table} is throttled: use on-demand capacity, or raise the capacity it is provisioned with`;
const unreachable: Advice = ({ region, endpoint }) =>
  `no connection to ${endpoint ?? `DynamoDB in region ${region}`}: check the region, the network and AWS_ENDPOINT_URL_DYNAMODB`;
const unanswered: Advice = ({ region, endpoint }) =>
  `no whole answer from ${endpoint ?? `DynamoDB in region ${region}`}: check the network, and proxies on the way`;

/** What one role may do and another may not. */
const more = (role: keyof typeof ROLE_ACTIONS, than: keyof typeof ROLE_ACTIONS): string =>
  ROLE_ACTIONS[role].dynamodb.filter((action) => !ROLE_ACTIONS[than].dynamodb.includes(action)).join(" and ");

const ADVICE: Readonly<Record<string, Advice>> = {
  ResourceNotFoundException: ({ table, region, endpoint }) =>
    `there is no table ${table} in region ${region}${endpoint === undefined ? "" : ` at ${endpoint}`}, or it is still being made: ` +
    "create it with the keys pk (S) and sk (S) and ttl as its TTL attribute, or correct name and region",
  AccessDeniedException: ({ table }) =>
    `the role of this process may not use table ${table}: it needs dynamodb:${ROLE_ACTIONS.broker.dynamodb.join(", ")}, ` +
    `as a deployed server also ${more("server", "broker")}, and for commands over the whole table ${more("operator", "server")}`,
  UnrecognizedClientException: credentials,
  InvalidSignatureException: credentials,
  IncompleteSignatureException: credentials,
  MissingAuthenticationTokenException: credentials,
  ExpiredTokenException: credentials,
  CredentialsProviderError: credentials,
  ProvisionedThroughputExceededException: throttled,
  ThrottlingException: throttled,
  RequestLimitExceeded: throttled,
  ENOTFOUND: unreachable,
  ECONNREFUSED: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ECONNRESET: unanswered,
  EPIPE: unanswered,
  TimeoutError: unanswered,
  SyntaxError: unanswered,
  ERR_INVALID_URL: () => `AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL ${NO_URL}`,
  ERR_INVALID_CHAR: () => UNSENDABLE,
};

const WRONG_KEYS = /does not match the schema|missing the key|type mismatch for key|conditions on the keys is invalid/i;
const TOO_LARGE = /item size .*exceed/i;

/**
 * @returns what to throw instead: `temporarily_unavailable`, or TokenStoreError too_large for more
 *   than DynamoDB accepts
 */
export function fromDynamoError(error: unknown, place: Place): OAuthError | TokenStoreError {
  const { name, message, code } = error as Error & { readonly code?: string };
  if (name === "ValidationException" && TOO_LARGE.test(message)) {
    return new TokenStoreError("too_large", { detail: "an item of DynamoDB holds at most 400 KB", cause: error });
  }
  if (name === "ValidationException" && WRONG_KEYS.test(message)) {
    return dynamoUnavailable(`the keys of table ${place.table} are not pk (S) and sk (S)`, error);
  }
  const advice = ADVICE[name] ?? ADVICE[code ?? ""];
  return dynamoUnavailable(advice === undefined ? `DynamoDB: ${name}` : advice(place), error);
}

export function dynamoUnavailable(detail: string, cause?: unknown): OAuthError {
  return storeUnavailable(new Error(detail, cause === undefined ? undefined : { cause }));
}
