/**
 * The interface of every simulated vendor for the test, the sandbox or the benchmark that started
 * it.
 */
import type { HttpBindings } from "@hono/node-server";
import type { Clock } from "../../clock.ts";
import type { Fault } from "../../vendor-requests.ts";

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

/** One request to the vendor. Values of members that are secrets read `(secret)`. */
export interface RecordedVendorRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Members of a form or of a JSON object; empty for anything else. */
  readonly body: Readonly<Record<string, string>>;
  /** The scheme of the Authorization header, e.g. `Basic`. */
  readonly authorization?: string;
  readonly accept?: string;
  /** Without its parameters. */
  readonly contentType?: string;
  /** The status of the response; 0 when the connection was cut. */
  readonly status: number;
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

export interface VendorSimulator<Client extends SimulatedClient = SimulatedClient> {
  /** The broker's id of this vendor, e.g. `github`. */
  readonly id: string;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /**
   * What an operator writes under `vendors.<id>` in broker.yaml to point the entry here: `issuer`,
   * `authorization_endpoint`, `token_endpoint` and, if the vendor has them, `refresh_endpoint`,
   * `revocation_endpoint`, `registration_endpoint`, `jwks_uri`, `userinfo_endpoint`.
   */
  readonly endpoints: Readonly<Record<string, string>>;
  /** Adds an app, or replaces the one of the same id (its tokens stay). */
  addClient(client: Client): void;
  /** The errors `refuseNext` can cause, by where. */
  readonly errors: Readonly<Partial<Record<RefusalPoint, readonly string[]>>>;
  /**
   * The next request there is refused with this error of the vendor, in the vendor's own form.
   *
   * @throws Error when it is not in `errors`
   */
  refuseNext(at: RefusalPoint, error: string): void;
  /**
   * The next request to this path fails below the vendor's protocol: cut, hung, lost, another body.
   */
  faultNext(path: string, fault: Fault): void;
  /** Oldest first. */
  requests(): readonly RecordedVendorRequest[];
  /** Access and refresh tokens that are valid now; of one user, or of all. */
  liveTokens(user?: string): readonly string[];
  isLive(token: string): boolean;
  /** Ends everything a user allowed this app, as from the vendor's settings page. */
  disconnect(user: string, clientId: string): void;
  /** Ends open connections too. */
  close(): Promise<void>;
}
