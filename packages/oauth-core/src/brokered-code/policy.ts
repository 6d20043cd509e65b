/**
 * The decisions that an app makes for its flows. A broker and an MCP server differ in these and in
 * nothing else.
 */
import type { Handle } from "../authorization-server/handle.ts";
import type { Answer } from "../http/answers.ts";
import type { OAuthError } from "../protocol/errors.ts";
import type { VerifiedRedirect } from "../authorization-server/redirect-uri.ts";
import type { Clock, RecordStore, StoredRecord } from "../ports.ts";
import type { VendorClient } from "../vendor-client/index.ts";
import type { ResolvedVendor, VendorCredentials, VendorTokens } from "../registry/vendor.ts";
import type { VendorAnswer } from "./vendor-answer.ts";
import type { FlowRecord } from "./record.ts";
import type { FlowSecrets, FlowState } from "./secrets.ts";

/** The store, clock and issuer of an app's flows. */
export interface FlowDeps {
  readonly records: RecordStore;
  readonly now: Clock;
  /** Our issuer. It is in the redirect to the client and decides the names of the cookies. */
  readonly issuer: string;
}

/** What the engine reports of a request's flow, for the app's log line. */
export interface FlowTrace {
  flowId?: string;
  clientId?: string;
  vendor?: string;
  credentialsId?: string;
  /** An error that the client got as a redirect. */
  failure?: OAuthError;
  /** Why a browser saw the 400 page, in one word. */
  reason?: string;
}

/** A vendor as a flow uses it. */
export interface FlowVendor {
  readonly vendor: ResolvedVendor;
  readonly credentials: VendorCredentials;
  readonly vendorClient: Pick<VendorClient, "authorizationUrl" | "redeemCode" | "revokeGrant">;
  /** Where the vendor sends the browser back. */
  readonly redirectUri: string;
}

/**
 * The content that waits for the client to redeem our code. `kept` holds what the app needs again
 * at that time, such as a client secret that the caller sent.
 */
export type Parked = { readonly kept?: Readonly<Record<string, string>> } & (
  | ({ readonly kind: "code" } & VendorAnswer)
  | { readonly kind: "tokens"; readonly tokens: VendorTokens; readonly callbackData: Readonly<Record<string, string>> }
);

/** A flow with the tokens that the vendor issued. */
export interface Redeemed<Flow, Vendor> {
  readonly flowId: string;
  readonly flow: Flow;
  readonly vendor: Vendor;
  readonly tokens: VendorTokens;
  readonly callbackData: Readonly<Record<string, string>>;
}

/** The reason for a 400 page. A closed set, so that each refusal has its own counter. */
//= bar#OB-1
export type FlowRefusal =
  | "request_uri_unknown"
  | "request_uri_used"
  | "client_unknown"
  | "state_missing"
  | "state_invalid"
  | "state_expired"
  | "flow_unknown"
  | "state_replayed"
  | "browser_mismatch"
  | "context_mismatch"
  | "path_mismatch"
  | "issuer_mismatch"
  | "missing_issuer"
  | "malformed_response";

/** The leg and the flow for which the app resolves the vendor. */
export type VendorLookup<Flow> =
  | { readonly leg: "authorize" | "callback"; readonly flowId: string; readonly flow: Flow }
  | { readonly leg: "token"; readonly flowId: string; readonly flow: Flow; readonly kept: Parked["kept"] };

/** The decisions of an app. Methods throw OAuthError when a flow cannot continue. */
export interface FlowPolicy<Flow extends FlowRecord, Vendor extends FlowVendor> {
  /** The kind of the records in the store. */
  readonly kind: string;
  /**
   * @returns the record's fields in the present format; undefined for a record of another
   *   deployment
   * @throws OAuthError server_error for a format that this release does not know
   */
  parse(record: StoredRecord): Flow | undefined;
  readonly state: FlowState<Flow>;
  /** @throws OAuthError temporarily_unavailable without keys */
  secrets(flowId: string, flow: Flow, vendor: ResolvedVendor): Promise<FlowSecrets>;
  /** Seals under a key derived from `code`, which is not stored. */
  seal(parked: Parked, code: Handle): string | Promise<string>;
  /** @throws Error when the value was sealed under another code; OAuthError temporarily_unavailable without keys */
  open(flow: Flow, code: Handle): Promise<Parked>;
  /**
   * Checks the client and its redirect URI against the present registration.
   *
   * @returns undefined when the client no longer exists
   * @throws OAuthError when the redirect URI is no longer registered
   */
  redirectOf(flow: Flow): Promise<VerifiedRedirect | undefined>;
  /**
   * Resolves the vendor, endpoints and credentials that the flow began with.
   *
   * @throws OAuthError when they have changed or are no longer there. At the callback a refusal by
   *   `refuse` is shown as a page, and another error of status 400 is reported to the client
   */
  vendorOf(lookup: VendorLookup<Flow>, trace: FlowTrace): Promise<Vendor>;
  /**
   * Whether the callback requires the cookie of the browser that started the flow. If not, the
   * client has to bind the browser itself.
   */
  bindsBrowser(flow: Flow): boolean;
  /** Further values to seal with the code. */
  keep?(vendor: Vendor): Parked["kept"];
  /** Fields that are deleted when the browser is back, and when the flow has ended. */
  readonly forgotten: { readonly whenParked: readonly string[]; readonly atEnd: readonly string[] };
  /**
   * Whether a well-formed but wrong PKCE verifier ends the code. From a confidential client it
   * means an attack or a mixed-up session; in the name of a public client anyone can send it.
   */
  readonly burnsOnWrongVerifier: boolean;
  /**
   * `optional`: a client may leave `redirect_uri` out when it redeems the code, as OAuth 2.1 §10.2
   * lets it; PKCE is in its place. One that is sent is compared. Absent: it is required.
   */
  readonly redirectUriAtToken?: "optional";
  /**
   * Whether our code becomes usable again after this failure at the vendor. The vendor decides on
   * the next try whether its own code is still valid.
   */
  releases(error: OAuthError): boolean;
  /** How long a used code is remembered; absent: as long as the record is kept. */
  readonly rememberSeconds?: number;
  /** Called when a client presents a used code again. */
  replayed?(flow: Flow): Promise<void>;
  /**
   * For flows that end at the callback: stores the tokens and answers the browser. If it throws, it
   * has revoked the tokens that it did not store.
   */
  finishAtCallback?(redeemed: Redeemed<Flow, Vendor>, trace: FlowTrace): Promise<Answer>;
  /** The 400 page. The page names no reason; log and counters do. */
  refuse(trace: FlowTrace, reason: FlowRefusal, cause?: unknown): OAuthError;
}
