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

/**
 * An organization's directory. The sample operator is its administrator, the sample user is not.
 * Read at every request.
 */
export interface MicrosoftTenant {
  readonly id: string;
  readonly name: string;
  /** An administrator has allowed the app for everyone. */
  adminConsent: boolean;
  /** Users may allow an app themselves. */
  usersMayConsent: boolean;
  /** In the Frontier preview; otherwise the MCP servers answer 403. */
  inPreview: boolean;
  /** Environment ids, each a GUID or `Default-<tenant id>`. */
  environments: readonly string[];
}

/** Read at every request; set at the start or while it runs. */
export interface MicrosoftSettings {
  tenants: readonly MicrosoftTenant[];
  /** Id of the tenant of users who sign in at `organizations` or `common`; default the first. */
  homeTenant: string | undefined;
  /**
   * Id of a foreign tenant that ID tokens name: a fault that the real vendor does
   * not have.
   */
  idTokenTenant: string | undefined;
  /** Grants from before end in AADSTS50076 with `claims`; signing in again passes. */
  mfaRequired: boolean;
  /** As the documentation says, or as seen in public threads: microsoft-errors.ts. */
  tokenErrors: "documented" | "observed";
}

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

export function microsoftDefaults(): MicrosoftSettings {
  const tenant = (id: string, name: string, isReady: boolean, environments: readonly string[]): MicrosoftTenant => ({
    id,
    name,
    adminConsent: isReady,
    usersMayConsent: false,
    inPreview: isReady,
    environments: [`Default-${id}`, ...environments],
  });
  return {
    tenants: [
      tenant("aaaaaaaa-0000-4000-8000-000000000001", "Ready organization", true, [
        "eeeeeeee-0000-4000-8000-000000000001",
      ]),
      tenant("bbbbbbbb-0000-4000-8000-000000000002", "New organization", false, []),
    ],
    homeTenant: undefined,
    idTokenTenant: undefined,
    mfaRequired: false,
    tokenErrors: "documented",
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
