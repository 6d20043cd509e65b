/** The state that the parts of the GitHub simulator share. */
import type { createCodes } from "./base/codes.ts";
import type { VendorUser } from "./base/consent.ts";
import type { VendorHost } from "./base/host.ts";
import type { SimulatedClient } from "./base/simulator.ts";

export interface GitHubClient extends SimulatedClient {
  /**
   * Default `oauth-app`. A `github-app` ignores scopes and its tokens expire unless
   * `expiringTokens` is false.
   */
  readonly kind?: "oauth-app" | "github-app";
  /** Access tokens live 8 hours and come with a refresh token. Default: as the kind. */
  readonly expiringTokens?: boolean;
  /**
   * Whether a callback below a registered one, or on a subdomain of it, is good too. Default false.
   */
  readonly wildcardRedirects?: boolean;
}

/** What a code was issued for. */
export interface GitHubAuthorization {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly user: VendorUser;
  /** S256, when the request had one. */
  readonly challenge: string | undefined;
}

/** The state that the parts of this simulator share. */
export interface GitHubState extends VendorHost<GitHubClient> {
  readonly codes: ReturnType<typeof createCodes<GitHubAuthorization>>;
  readonly unverified: Set<string>;
  /** Scopes a user has ever allowed an app. */
  granted(user: string, clientId: string): Set<string>;
}
