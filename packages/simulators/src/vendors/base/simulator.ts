/** What those who start a simulated vendor give it, and what it records. */
import type { HttpBindings } from "@hono/node-server";
import type { Clock } from "../../clock.ts";

/** The environment of the Hono app that every simulator is. */
export type VendorEnv = { Bindings: HttpBindings };

/** An app at the vendor, as on its developer pages. Vendors add their own settings. */
export interface SimulatedClient {
  readonly clientId: string;
  /** Left out for a public client. */
  readonly clientSecret?: string;
  readonly redirectUris: readonly string[];
  /** Shown on the consent page; default the client id. */
  readonly name?: string;
}

/**
 * Where a vendor can be made to refuse: at its authorization page, another endpoint, or an API
 * call.
 */
export type RefusalPoint = "authorization" | "token" | "revocation" | "registration" | "api";

export interface SimulatorOptions {
  /** Whole seconds since 1970; default the system clock. */
  readonly now?: Clock;
  /** Default 0: a free one. */
  readonly port?: number;
  /** Where users start, for the way back from pages that end here. */
  readonly homeUrl?: string;
}
