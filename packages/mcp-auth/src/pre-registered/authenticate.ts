/**
 * Pre-registered mode: the bearer token is the user's vendor token, which the platform sends. The
 * vendor validates it before any tool runs. The result is cached under the token's hash for
 * seconds, so that a burst of calls asks once and a token that ends is not accepted for long. The
 * token is stored nowhere. mcp/admission/refused-tokens.ts limits the unknown tokens that get this far.
 */
import { type Clock, createExpiringMap, type EpochSeconds, Secret } from "@oauth-broker/oauth-core";
import {
  type AccessTokenValidation,
  canValidateAccessToken,
  type VendorClient,
} from "@oauth-broker/oauth-core/vendor-client";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import type { Caller, Authenticate, VendorToken } from "../mode.ts";
import type { VendorSettings } from "../settings.ts";

export interface AuthenticateDeps {
  readonly settings: Pick<VendorSettings, "credentials">;
  readonly vendor: () => Promise<ResolvedVendor>;
  readonly vendorClient: Pick<VendorClient, "validateAccessToken">;
  readonly now: Clock;
}

/** How long a vendor's positive result is cached, and a refusal by its API. */
export const VALIDATION_SECONDS = 10;
/** A refused token does not become valid: it is not checked again for this long. */
export const REFUSED_SECONDS = 60;
const MOST_VALIDATIONS = 10_000;

export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  const validations = createValidations(deps);
  return async (bearer) => {
    const validation = await validations.of(bearer);
    if (!validation.active) return undefined;
    const { user, clientId, scope, expiresAt = deps.now() + VALIDATION_SECONDS } = validation;
    const token: VendorToken = { accessToken: new Secret(bearer), version: 1 };
    const caller: Caller = {
      user,
      scope,
      // The bearer token is the vendor token.
      vendorScope: scope,
      expiresAt,
      clientId,
      vendorToken: async () => token,
      // This server cannot refresh it: the platform notices by the next 401.
      refused: async () => {
        validations.refuse(bearer);
        return undefined;
      },
    };
    return caller;
  };
}

/**
 * What only the vendor's metadata shows: that it has no way to check a token, or none that names
 * the token's client. If the settings show it, config/vendor.ts refuses them.
 *
 * @returns for the log at start; undefined also while the vendor cannot be reached
 */
export async function validationWarning({
  settings: { credentials },
  vendor,
}: Pick<AuthenticateDeps, "settings" | "vendor">): Promise<string | undefined> {
  const resolved = await vendor().catch(() => undefined);
  if (resolved === undefined || canValidateAccessToken(resolved, credentials)) return undefined;
  return canValidateAccessToken(resolved, undefined)
    ? "VENDOR does not say which client a token was issued to, and VENDOR_CLIENT_ID is set, so every call will fail: set VENDOR_CLIENT_SECRET and VENDOR_INTROSPECTION_URL, or unset VENDOR_CLIENT_ID"
    : "VENDOR has no way to ask whether a user's token is good, so every call will fail: set VENDOR_USERINFO_URL or VENDOR_INTROSPECTION_URL";
}

interface Validations {
  /** @throws OAuthError temporarily_unavailable, and nothing is cached */
  of(token: string): Promise<AccessTokenValidation>;
  /** The vendor's API refused the token, even if it passed validation. */
  refuse(token: string): void;
}

function createValidations({ settings, vendor, vendorClient, now }: AuthenticateDeps): Validations {
  // Separate, so that tokens tried by attackers evict no token that is in use.
  const good = createExpiringMap<AccessTokenValidation>(MOST_VALIDATIONS, now);
  const refused = createExpiringMap<AccessTokenValidation>(MOST_VALIDATIONS, now);
  const asked = new Map<string, Promise<AccessTokenValidation>>();
  const keep = (key: string, validation: AccessTokenValidation, until: EpochSeconds): void => {
    const [into, outOf] = validation.active ? [good, refused] : [refused, good];
    outOf.delete(key);
    into.set(key, validation, until);
  };
  const keptOf = (key: string): AccessTokenValidation | undefined => {
    const kept = refused.get(key) ?? good.get(key);
    return kept === undefined ? undefined : stillGood(kept, now);
  };
  const ask = async (token: string, key: string): Promise<AccessTokenValidation> => {
    const askedAt = now();
    const asking = vendor().then(async (found) => vendorClient.validateAccessToken(found, token, settings.credentials));
    asked.set(key, asking);
    try {
      const validation = await asking;
      // Refused by the API in the meantime, which is the later result.
      if (asked.get(key) === asking)
        keep(key, validation, askedAt + (validation.active ? VALIDATION_SECONDS : REFUSED_SECONDS));
      return validation;
    } finally {
      // A failed check is repeated by the next call.
      if (asked.get(key) === asking) asked.delete(key);
    }
  };
  return {
    of: async (token) => {
      const key = hashOf(token);
      return keptOf(key) ?? asked.get(key) ?? ask(token, key);
    },
    refuse: (token) => {
      const key = hashOf(token);
      asked.delete(key);
      keep(key, { active: false, reason: "refused_by_api" }, now() + VALIDATION_SECONDS);
    },
  };
}

function stillGood(validation: AccessTokenValidation, now: Clock): AccessTokenValidation {
  const isOver = validation.active && validation.expiresAt !== undefined && validation.expiresAt <= now();
  return isOver ? { active: false, reason: "expired" } : validation;
}
