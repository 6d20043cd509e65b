/**
 * The two values of LinkPolicy: a server of one vendor, whose sessions are as good as their links,
 * and one of several, whose users link each vendor when a tool needs it.
 */
import type { HostedVendorSettings, LinkingSettings, LinkPolicy, SessionPolicy } from "../../settings.ts";
import { identitySource } from "../records/identity-source.ts";
import { grantedSessionScope, identityScopes, prefixScopes, scopesOfVendor, withOwed } from "./scope.ts";

/** Sessions of the only vendor: their scopes are the vendor's own, and a refresh prolongs them without end. */
export const SESSIONS_OF_ONE: SessionPolicy = {
  sessionMaxSeconds: Infinity,
  sessionMark: {},
  // A scope that names a vendor is not the vendor's own.
  readScope: ({ scope, linking }) => (linking === true ? undefined : { scope }),
  grantedScope: (granted) => granted,
};

/** Sessions of several vendors: each scope names its vendor, and none is prolonged without end. */
export function sessionsOfSeveral({
  signIn,
  sessionMaxSeconds,
}: Pick<LinkingSettings, "signIn" | "sessionMaxSeconds">): SessionPolicy {
  return {
    sessionMaxSeconds,
    sessionMark: { linking: true },
    // Only the record says which it is: a vendor's own scope may look like one that names a vendor.
    readScope: ({ scope, linking }) =>
      linking === true ? { scope } : { scope: prefixScopes(scope, signIn), unprefixedOf: signIn },
    grantedScope: (granted, consented) => grantedSessionScope(granted, consented, signIn),
  };
}

/** `VENDOR`: a list of one. */
export function oneVendor(only: HostedVendorSettings): LinkPolicy {
  const { id } = only.vendor;
  return {
    ...SESSIONS_OF_ONE,
    kind: "one",
    vendors: new Map([[id, only]]),
    signIn: id,
    deadLink: "ends_token",
    endLinksWithLastSession: true,
    elicitationWaitSeconds: 0,
    adoptSignIn: true,
    nameScopes: (scopes) => scopes,
    scopesAt: (sessionScope) => sessionScope,
    requestedScope: (requested) => withOwed(requested, only),
    signInScope: (sessionScope) => sessionScope,
    consentedScope: () => undefined,
    signInOfKeys: () => undefined,
  };
}

/** `VENDORS`, of which `SIGN_IN` identifies users. */
export function severalVendors(linking: LinkingSettings): LinkPolicy {
  const { vendors, signIn } = linking;
  const signInVendor = (): HostedVendorSettings => {
    const vendor = vendors.get(signIn);
    if (vendor === undefined) throw new TypeError("the sign-in vendor is one of those that are listed");
    return vendor;
  };
  return {
    ...linking,
    ...sessionsOfSeveral(linking),
    kind: "several",
    deadLink: "is_asked_for",
    nameScopes: prefixScopes,
    scopesAt: scopesOfVendor,
    requestedScope: (requested) => requested,
    signInScope: (sessionScope) => {
      const vendor = signInVendor();
      const requested = [...identityScopes(vendor), ...scopesOfVendor(sessionScope, signIn)];
      return withOwed([...new Set(requested)], vendor);
    },
    consentedScope: (scope) => scope,
    signInOfKeys: () => identitySource({ vendor: signInVendor() }),
  };
}
