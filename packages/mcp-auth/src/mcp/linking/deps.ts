/** What calls need where users link several vendors. Connected in app.ts. */
import type { Clock } from "@oauth-broker/oauth-core";
import type { Seals } from "../../mode.ts";
import type { VendorApiDeps } from "../vendor-api.ts";

export interface LinkingDeps {
  /** By id as listed in `VENDORS`. */
  readonly vendors: ReadonlyMap<string, LinkedVendor>;
  /** `SIGN_IN`. */
  readonly signIn: string;
  /** `ELICITATION_WAIT_SECONDS`. */
  readonly elicitationWaitSeconds: number;
  /** The page on which users see and end their links. */
  readonly connectionsUrl: string;
  readonly seals: Seals;
  readonly now: Clock;
  /** @returns the vendor's own scopes as sessions name them */
  readonly prefixScopes: (scopes: readonly string[], vendor: string) => readonly string[];
  /** Resolves after this long, or when the signal fires. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** One of the vendors, each with hosts of its own. */
export interface LinkedVendor extends Pick<VendorApiDeps, "vendor" | "names" | "apiHosts"> {
  /** `VENDOR_<ID>_SCOPES`. */
  readonly scopes: readonly string[];
}
