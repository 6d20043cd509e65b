/** The settings of the simulated Microsoft, and its apps, tenants, grants and codes. */
import type { JWK } from "jose";
import type { Bound, Codes } from "./base/codes.ts";
import type { VendorHost } from "./base/host.ts";
import type { SimulatedClient } from "./base/simulator.ts";
import type { Grant } from "./base/tokens.ts";
import type { IdTokenSigner } from "./id-tokens.ts";

export interface MicrosoftClient extends SimulatedClient {
  /** When `clientSecret` ends, seconds since 1970. Default never. */
  readonly secretExpiresAt?: number;
  /**
   * Public keys of its certificates, for a client assertion; one with `x5t#S256` has to be named in
   * the header.
   */
  readonly certificates?: readonly JWK[];
}

/** Read at every request; set while it runs. */
export type MicrosoftSettings = ReturnType<typeof microsoftDefaults>;

export type MicrosoftTenant = ReturnType<typeof newTenant>;

export interface MicrosoftGrant extends Grant {
  readonly tenantId: string;
  /** Multi-factor authentication was part of the sign-in. */
  readonly mfa: boolean;
}

export interface MicrosoftBound extends Bound {
  readonly grant: MicrosoftGrant;
  readonly nonce: string | undefined;
}

export interface Microsoft {
  readonly host: VendorHost<MicrosoftClient>;
  readonly settings: MicrosoftSettings;
  readonly codes: Codes<MicrosoftBound>;
  readonly signer: IdTokenSigner;
}

export function microsoftDefaults() {
  return {
    tenants: [
      newTenant("aaaaaaaa-0000-4000-8000-000000000001", "Ready organization", true, [
        "eeeeeeee-0000-4000-8000-000000000001",
      ]),
      newTenant("bbbbbbbb-0000-4000-8000-000000000002", "New organization", false),
    ] as readonly MicrosoftTenant[],
    /** Id of the tenant of users who sign in at `organizations` or `common`; default the first. */
    homeTenant: undefined as string | undefined,
    /**
     * Id of a foreign tenant that ID tokens name: a fault that the real vendor does
     * not have.
     */
    idTokenTenant: undefined as string | undefined,
    /** Grants from before end in AADSTS50076 with `claims`; signing in again passes. */
    mfaRequired: false,
    /** As the documentation says, or as seen in public threads: microsoft-errors.ts. */
    tokenErrors: "documented" as "documented" | "observed",
  };
}

/**
 * An organization's directory. The sample operator is its administrator, the sample user is not.
 * Read at every request.
 */
function newTenant(id: string, name: string, isReady: boolean, environments: readonly string[] = []) {
  return {
    id,
    name,
    /** An administrator has allowed the app for everyone. */
    adminConsent: isReady,
    /** Users may allow an app themselves. */
    usersMayConsent: false,
    /** In the Frontier preview; otherwise the MCP servers answer 403. */
    inPreview: isReady,
    /** Environment ids, each a GUID or `Default-<tenant id>`. */
    environments: [`Default-${id}`, ...environments] as readonly string[],
  };
}

/**
 * @param path the first segment: `organizations`, `common`, or a tenant id @returns undefined for
 *   any other
 */
export function tenantAt(settings: MicrosoftSettings, path: string | undefined): MicrosoftTenant | undefined {
  const id = isSharedPath(path) ? (settings.homeTenant ?? settings.tenants[0]?.id) : path;
  return settings.tenants.find((tenant) => tenant.id === id);
}

export function isSharedPath(path: string | undefined): boolean {
  return path === "organizations" || path === "common";
}
