/**
 * The differences between the authorization servers of remote MCP servers, and the state their
 * parts share. They are closely related: registration, client documents, PKCE and revocation at one
 * URL.
 */
import type { createCodes } from "../base/codes.ts";
import type { VendorUser } from "../base/consent.ts";
import type { VendorHost } from "../base/host.ts";
import type { Permission } from "../base/pages.ts";
import type { Challenge } from "../base/pkce.ts";
import type { SimulatedClient, VendorSimulator } from "../base/simulator.ts";

export type AuthMethod = "client_secret_basic" | "client_secret_post" | "none";

export const AUTH_METHODS: readonly AuthMethod[] = ["client_secret_basic", "client_secret_post", "none"];

export interface McpClient extends SimulatedClient {
  /** The only one it may use. Default: Basic with a secret, none without. */
  readonly tokenEndpointAuthMethod?: AuthMethod;
}

export interface McpRules {
  /** What the server offers; an authorization request without `scope` gets all of them. */
  readonly scopes: readonly Permission[];
  readonly challengeMethods: readonly Challenge["method"][];
  /** Whether the callback has `iss` (RFC 9207). */
  readonly sendsIssuer: boolean;
  readonly accessLifetimeSeconds: number;
  /** How long a used refresh token returns the pair it was exchanged for; 0 = dead at once. */
  readonly replayWindowSeconds: number;
  /**
   * Protected resources by the path of their metadata below the well-known one, `""` for the root.
   */
  readonly resources: Readonly<Record<string, McpResource>>;
  /** Where the MCP servers are, each with the metadata its 401 names. */
  readonly servers: Readonly<Record<string, string>>;
  readonly hasIntrospection: boolean;
}

export interface McpResource {
  /** Appended to the URL of the simulator. */
  readonly path: string;
  readonly scopes: readonly string[];
}

export interface McpAuthorization {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly user: VendorUser;
  readonly challenge: Challenge;
}

export interface McpState extends VendorHost<McpClient> {
  readonly rules: McpRules;
  readonly codes: ReturnType<typeof createCodes<McpAuthorization & { readonly grantId: string }>>;
  /** Clients by their URL, as their documents last described them. */
  readonly documents: Map<string, McpClient>;
}

export interface McpSimulator extends VendorSimulator<McpClient> {
  /** Ids issued by registration, oldest first. */
  registrations(): readonly string[];
}

export function authMethodOf(client: McpClient): AuthMethod {
  return client.tokenEndpointAuthMethod ?? (client.clientSecret === undefined ? "none" : "client_secret_basic");
}

export function knownClient(state: McpState, clientId: string | undefined): McpClient | undefined {
  return state.clients.find(clientId) ?? state.documents.get(clientId ?? "");
}
