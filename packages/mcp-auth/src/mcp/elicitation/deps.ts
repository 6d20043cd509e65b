/** What calls need if users link several vendors. Connected in app.ts. */
import type { Clock, Timer } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/client";
import type { ScopeRefusal } from "@oauth-broker/oauth-core/registry";
import type { Seals } from "../../mode.ts";
import type { LinkPolicy } from "../../settings.ts";
import type { VendorApiDeps } from "../tools/vendor-api.ts";

export interface ElicitationDeps {
  /** By id as listed in `VENDORS`. */
  readonly vendors: ReadonlyMap<string, LinkedVendor>;
  /** `SIGN_IN`. */
  readonly signIn: string;
  /** The source of users' identities: `user` of another vendor or issuer is another user. */
  readonly source: { readonly vendor: string; readonly issuer: string };
  /** `ELICITATION_WAIT_SECONDS`. */
  readonly elicitationWaitSeconds: number;
  /** The page on which users see and end their links. */
  readonly connectionsUrl: string;
  /** Open at once for one user and client: one more would end the first. */
  readonly mostTickets: number;
  readonly seals: Seals;
  readonly now: Clock;
  readonly nameScopes: LinkPolicy["nameScopes"];
  /** Fires when this process stops: calls that wait for their user are then answered. */
  readonly stopping: AbortSignal;
  /** Resolves after this long, or when the signal fires. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** One of the vendors, each with its own hosts. */
export interface LinkedVendor extends Pick<VendorApiDeps, "vendor" | "names" | "apiHosts"> {
  /** `VENDOR_<ID>_SCOPES`. */
  readonly scopes: readonly string[];
  readonly scopeRefusal?: ScopeRefusal | undefined;
}

/** @param deps the authorization server's sessions, tickets and pages */
export function createElicitationDeps(
  {
    vendors,
    signIn,
    elicitationWaitSeconds,
    nameScopes,
  }: Pick<LinkPolicy, "vendors" | "signIn" | "elicitationWaitSeconds" | "nameScopes">,
  {
    vendorClient,
    timer,
    ...deps
  }: Pick<ElicitationDeps, "seals" | "now" | "source" | "connectionsUrl" | "mostTickets" | "stopping"> & {
    readonly vendorClient: Pick<VendorClient, "resolve">;
    readonly timer: Timer;
  },
): ElicitationDeps {
  const linked = [...vendors].map(([id, { vendor, scopes, apiHosts }]): [string, LinkedVendor] => [
    id,
    {
      vendor: () => vendorClient.resolve(vendor),
      names: { id, name: vendor.name },
      apiHosts,
      scopes,
      scopeRefusal: vendor.scopeRefusal,
    },
  ]);
  return {
    ...deps,
    vendors: new Map(linked),
    signIn,
    elicitationWaitSeconds,
    nameScopes,
    pause: async (milliseconds, signal) => {
      if (signal.aborted) return;
      const { promise: stopped, resolve } = Promise.withResolvers<void>();
      const stop = (): void => resolve();
      signal.addEventListener("abort", stop);
      await Promise.race([timer.sleep(milliseconds), stopped]);
      signal.removeEventListener("abort", stop);
    },
  };
}
