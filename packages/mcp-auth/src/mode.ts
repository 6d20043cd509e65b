/** What a mode adds to `/mcp`: pre-registered/ and hosted/ each make one, app.ts mounts it. */
import type { Route } from "@oauth-broker/oauth-core/service";
import type { Gate } from "./caller.ts";

export interface Mode {
  readonly gate: Gate;
  /** Open, without a bearer token. */
  readonly routes: readonly Route[];
  /** Where the resource describes itself, for the challenge on `/mcp`; absent where nothing is described. */
  readonly resourceMetadata: string | undefined;
  /**
   * Resolves when this mode has what it needs to serve: in hosted mode the store and the server key.
   *
   * @throws OAuthError temporarily_unavailable
   */
  ready(): Promise<void>;
  /** What only the vendor's metadata tells and the operator should hear. Never rejects. */
  lateWarning(): Promise<string | undefined>;
}
