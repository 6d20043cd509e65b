/**
 * Who says who a user is: user `123` of one vendor is not user `123` of the next. Everything that
 * stands for a user, and everything under way to become that, names its source and is worth nothing
 * at another.
 */
import type { TokenKey } from "@oauth-broker/token-store";
import type { HostedSettings } from "../../settings.ts";

/** The vendor's id, and its issuer or the host of its token endpoint where it has none. */
export type IdentitySource = Omit<TokenKey, "user">;

/** Of a server as it is set up now. */
export function identitySource({ vendor }: Pick<HostedSettings, "vendor">): IdentitySource {
  const { id, issuer, tokenEndpoint = "" } = vendor.vendor;
  return { vendor: id, issuer: issuer ?? new URL(tokenEndpoint).host };
}

export function isSameSource(one: IdentitySource, other: IdentitySource): boolean {
  return one.vendor === other.vendor && one.issuer === other.issuer;
}
