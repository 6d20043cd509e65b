/**
 * The source of a user's identity: user `123` of one vendor is not user `123` of another. Every
 * record that identifies a user, or will, names its source and is invalid at another.
 */
import type { TokenKey } from "@oauth-broker/token-store";
import type { HostedSettings } from "../../settings.ts";

/** The vendor's id, and its issuer or the host of its token endpoint when it has none. */
export type IdentitySource = Pick<TokenKey, "vendor" | "issuer">;

/** The source in a server's present settings. */
export function identitySource({ vendor }: Pick<HostedSettings, "vendor">): IdentitySource {
  const { id, issuer, tokenEndpoint = "" } = vendor.vendor;
  return { vendor: id, issuer: issuer ?? new URL(tokenEndpoint).host };
}

export function isSameSource(one: IdentitySource, other: IdentitySource): boolean {
  //= bar#RS-2
  return one.vendor === other.vendor && one.issuer === other.issuer;
}
