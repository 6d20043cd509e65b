/**
 * What an MCP backend imports to get its users' vendor tokens through the broker. Runs on Node 20
 * and later: no code here may import oauth-core, not even its types. Without a
 * broker: the entry `direct`.
 */
export type { ClientCredentials } from "./broker/authentication.ts";
export { type BrokerClient, type BrokerClientOptions, createBrokerClient } from "./broker/client.ts";
export type { AnswerEncryption } from "./broker/encrypted-answer.ts";
export type { Explanation, RegisterOptions, RegistrationAnswer } from "./broker/extras.ts";
export { BrokerClientError, type BrokerClientErrorDetails } from "./error.ts";
export type { Session } from "./session.ts";
export type {
  ByocCredentials,
  Checked,
  CheckRequest,
  ConnectClient,
  GrantTarget,
  Refreshed,
  RefreshRequest,
  Revoked,
  RevokeRequest,
  Started,
  StartRequest,
  Tokens,
  VendorTarget,
} from "./types.ts";
