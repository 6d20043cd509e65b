/** The settings of the simulated Atlassian, and its apps, sites and grants. */
import type { Codes } from "./base/codes.ts";
import type { VendorHost } from "./base/host.ts";
import type { Challenge } from "./base/pkce.ts";
import type { SimulatedClient } from "./base/simulator.ts";
import type { Grant, HeldToken } from "./base/tokens.ts";

export type AtlassianAuthMethod = "none" | "client_secret_post" | "client_secret_basic";

export interface AtlassianClient extends SimulatedClient {
  /**
   * Default `3lo`: an app of the developer console, for the REST APIs. `mcp`: registered
   * dynamically, for the MCP server.
   */
  readonly kind?: "3lo" | "mcp";
  /** Default `client_secret_post`. */
  readonly authMethod?: AtlassianAuthMethod;
  /** The scopes added to a 3LO app in the console; default any. */
  readonly scopes?: readonly string[];
}

export interface AtlassianSite {
  /** The cloud id. */
  readonly id: string;
  readonly name: string;
  readonly url: string;
}

/** Read at every request; set at the start or while it runs. */
export interface AtlassianSettings {
  sites: readonly AtlassianSite[];
  /** Cloud id used when the user does not choose a site; default the first site. */
  chosenSite: string | undefined;
  /** A dead refresh token answers 403 with one of these. */
  deadRefreshAnswer: "invalid_grant" | "unauthorized_client";
  /**
   * The `issuer` in the metadata. `origin` was seen in 2026-07: it lacks the path, so a strict
   * check refuses it.
   */
  metadataIssuer: "path" | "origin";
  /** Whether the metadata is also at `/{resource_id}/.well-known/…`. */
  metadataAt: "insertion" | "insertion and suffix";
  /** Whether the MCP server's clients must name it as `resource`. */
  resourceRequired: boolean;
  /** Registration returns a secret although `none` was requested, and then requires it. */
  secretForPublicClients: boolean;
  /** Whether the metadata has a `revocation_endpoint`, as since 2026-09, and it works. */
  publishesRevocation: boolean;
  /** The site's admin has blocked apps that users install. */
  userInstalledAppsBlocked: boolean;
  /** The organization's admin allows no redirects there: after Accept the user ends on a page. */
  blockedRedirectUris: readonly string[];
}

export const ATLASSIAN_DEFAULTS: AtlassianSettings = {
  sites: [
    { id: "11111111-1111-4111-8111-111111111111", name: "first", url: "https://first.example" },
    { id: "22222222-2222-4222-8222-222222222222", name: "second", url: "https://second.example" },
  ],
  chosenSite: undefined,
  deadRefreshAnswer: "invalid_grant",
  metadataIssuer: "path",
  metadataAt: "insertion",
  resourceRequired: true,
  secretForPublicClients: false,
  publishesRevocation: true,
  userInstalledAppsBlocked: false,
  blockedRedirectUris: [],
};

export interface AtlassianGrant extends Grant {
  readonly siteId: string;
  /** The MCP server, or the REST APIs. */
  readonly audience: "mcp" | "3lo";
  /** Seconds since 1970. */
  readonly since: number;
}

/** What an authorization code was issued for. */
export interface AtlassianCode {
  readonly grant: AtlassianGrant;
  readonly redirectUri: string;
  readonly challenge: Challenge | undefined;
  /** As the authorization request named it. */
  readonly resource: string | undefined;
}

export interface AtlassianParts {
  readonly host: VendorHost<AtlassianClient>;
  readonly settings: AtlassianSettings;
  readonly codes: Codes<AtlassianCode>;
  /** The fixed id in the issuer's path, the same for everyone. */
  readonly resourceId: string;
  /** The MCP server's URL, which is also its `resource`. */
  readonly mcpServer: string;
}

/** Every grant of this vendor was created by it. */
export function grantOf(token: HeldToken): AtlassianGrant {
  return token.grant as AtlassianGrant;
}

export function kindOf(client: AtlassianClient): "3lo" | "mcp" {
  return client.kind ?? "3lo";
}
