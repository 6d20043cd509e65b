/** What calls need if users link several vendors. Connected in app.ts. */
import type { Clock, Timer } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import type { Seals } from "../../mode.ts";
import type { LinkPolicy, VendorSettings } from "../../settings.ts";

export interface ElicitationDeps extends Pick<LinkPolicy, "signIn" | "elicitationWaitSeconds" | "nameScopes"> {
  /** By id as listed in `VENDORS`. */
  readonly vendors: ReadonlyMap<string, Omit<VendorSettings, "credentials">>;
  readonly resolve: VendorClient["resolve"];
  /** The source of users' identities: `user` of another vendor or issuer is another user. */
  readonly source: { readonly vendor: string; readonly issuer: string };
  /** The page on which users see and end their links. */
  readonly connectionsUrl: string;
  /** Open at once for one user and client: one more would end the first. */
  readonly mostTickets: number;
  readonly seals: Seals;
  readonly now: Clock;
  /** Fires when this process stops: calls that wait for their user are then answered. */
  readonly stopping: AbortSignal;
  /** Resolves after this long, or when the signal fires. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** @returns `pause` */
export function createPause(timer: Pick<Timer, "sleep">): ElicitationDeps["pause"] {
  return async (milliseconds, signal) => {
    if (signal.aborted) return;
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    const stop = (): void => resolve();
    signal.addEventListener("abort", stop);
    await Promise.race([timer.sleep(milliseconds), stopped]);
    signal.removeEventListener("abort", stop);
  };
}
