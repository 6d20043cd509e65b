/** The settings of the simulated Google, and its consents and codes. */
import type { VendorHost } from "./base/host.ts";
import type { Challenge } from "./base/pkce.ts";
import type { SimulatedClient } from "./base/simulator.ts";
import type { Grant } from "./base/tokens.ts";
import type { AccountId } from "../vendor-pages.ts";

export type GoogleHost = VendorHost<SimulatedClient>;

/** Read at every request; set at the start or while it runs. */
export interface GoogleSettings {
  /**
   * The project in the Developer Preview Program. Anything but `approved`: connecting works, the
   * API answers 403.
   */
  approval: "not_requested" | "pending" | "approved" | "refused";
  /** `testing`: refresh tokens end after 7 days, and only `testUsers` get in. */
  publishing: "production" | "testing";
  testUsers: readonly AccountId[];
  /** Scopes the user unticks on the consent page. */
  unticked: readonly string[];
  /**
   * The organization's session policy has run out: refreshing answers `invalid_grant` with
   * `error_subtype: invalid_rapt`.
   */
  reauthenticationRequired: boolean;
  /** Google's ID tokens carry `iss` in either form. */
  idTokenIssuer: "with scheme" | "without scheme";
  /**
   * How `admin_policy_enforced` and `org_internal` reach the app: as an error at its callback, or
   * not at all.
   */
  blockedShownAs: "callback" | "page";
}

export const GOOGLE_DEFAULTS: GoogleSettings = {
  approval: "approved",
  publishing: "production",
  testUsers: ["user", "operator"],
  unticked: [],
  reauthenticationRequired: false,
  idTokenIssuer: "with scheme",
  blockedShownAs: "callback",
};

/** What an authorization code was issued for. */
export interface GoogleCode {
  readonly grant: Grant;
  readonly redirectUri: string;
  readonly challenge: Challenge | undefined;
  readonly nonce: string | undefined;
  /** Whether a refresh token comes: access_type=offline, and a consent page was shown. */
  readonly isOffline: boolean;
}

/** Scopes a user has allowed an app so far, over all flows. */
export interface GoogleConsents {
  of(user: string, clientId: string): ReadonlySet<string>;
  add(user: string, clientId: string, scopes: readonly string[]): void;
  forget(user: string, clientId: string): void;
}

export function createGoogleConsents(): GoogleConsents {
  const consents = new Map<string, Set<string>>();
  const key = (user: string, clientId: string) => JSON.stringify([user, clientId]);
  return {
    of: (user, clientId) => consents.get(key(user, clientId)) ?? new Set(),
    add(user, clientId, scopes) {
      const known = consents.get(key(user, clientId)) ?? [];
      consents.set(key(user, clientId), new Set([...known, ...scopes]));
    },
    forget: (user, clientId) => void consents.delete(key(user, clientId)),
  };
}
