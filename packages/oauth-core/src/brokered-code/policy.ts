/** What an app decides for its flows: everything here differs between a broker and an MCP server, nothing else does. */
import type { Handle } from "../authorization-server/handle.ts";
import type { Answer } from "../http/answers.ts";
import type { OAuthError } from "../protocol/errors.ts";
import type { VerifiedRedirect } from "../protocol/redirect-uri.ts";
import type { Clock, EpochSeconds, RecordStore, StoredRecord } from "../ports.ts";
import type { Trace } from "../service/http-layer.ts";
import type { VendorClient } from "../vendor-client/index.ts";
import type { ResolvedVendor, VendorCredentials, VendorTokens } from "../vendors/vendor.ts";
import type { VendorAnswer } from "./answer.ts";
import type { FlowRecord } from "./record.ts";
import type { FlowSecrets } from "./secrets.ts";

/** What the flows of an app stand on. */
export interface FlowDeps {
  readonly records: RecordStore;
  readonly now: Clock;
  /** Our issuer: in the client's redirect, and in the names of cookies. */
  readonly issuer: string;
}

/** A vendor as a flow uses it. */
export interface FlowVendor {
  readonly vendor: ResolvedVendor;
  readonly credentials: VendorCredentials;
  readonly vendorClient: Pick<VendorClient, "authorizationUrl" | "redeemCode" | "revokeToken">;
  /** Where the vendor sends the browser back. */
  readonly redirectUri: string;
}

/** What waits for the client to bring our code. `kept`: what the app needs again then, such as a secret that the caller brought. */
export type Parked = { readonly kept?: Readonly<Record<string, string>> } & (
  | ({ readonly kind: "code" } & VendorAnswer)
  | { readonly kind: "tokens"; readonly tokens: VendorTokens; readonly callbackData: Readonly<Record<string, string>> }
);

/** A flow whose vendor has given its tokens. */
export interface Redeemed<Flow, Vendor> {
  readonly flowId: string;
  readonly flow: Flow;
  readonly vendor: Vendor;
  readonly tokens: VendorTokens;
  readonly callbackData: Readonly<Record<string, string>>;
}

/** Why a browser gets the 400 page: a closed set, so that each refusal is countable by itself. */
//= bar#OB-1
export type FlowRefusal =
  | "request_uri_unknown"
  | "request_uri_used"
  | "client_unknown"
  | "state_missing"
  | "state_invalid"
  | "flow_unknown"
  | "state_replayed"
  | "browser_mismatch"
  | "context_mismatch"
  | "path_mismatch"
  | "issuer_mismatch"
  | "missing_issuer"
  | "malformed_response";

/** `state` as the app writes it: signed, or a handle of which the record has the hash. */
export interface FlowState<Flow> {
  /** @returns what goes to the vendor, and what the record keeps of it */
  issue(
    flowId: string,
    flow: Flow,
    times: StateTimes,
  ): { readonly value: string; readonly kept?: Pick<FlowRecord, "stateHash"> };
  /** @returns undefined where it cannot be one of ours. @throws OAuthError temporarily_unavailable without keys */
  read(value: string): Promise<{ readonly flowId: string; isOf(flow: Flow): boolean } | undefined>;
}

export interface StateTimes {
  readonly issuedAt: EpochSeconds;
  readonly expiresAt: EpochSeconds;
}

/** Where a flow stands when the app says which vendor it is of. */
export type VendorQuestion<Flow> =
  | { readonly leg: "authorize" | "callback"; readonly flowId: string; readonly flow: Flow }
  | { readonly leg: "token"; readonly flowId: string; readonly flow: Flow; readonly kept: Parked["kept"] };

/** What an app decides for its flows. Methods throw OAuthError where a flow cannot go on. */
export interface FlowPolicy<Flow extends FlowRecord, Vendor extends FlowVendor> {
  /** Of the records. */
  readonly kind: string;
  /**
   * @returns the record's fields in the present format; undefined where it is not of this deployment
   * @throws OAuthError server_error for a format that this release does not know
   */
  parse(record: StoredRecord): Flow | undefined;
  readonly state: FlowState<Flow>;
  /** @throws OAuthError temporarily_unavailable without keys */
  secrets(flowId: string, flow: Flow, vendor: ResolvedVendor): Promise<FlowSecrets>;
  /** Seals under a key that only `code` gives. */
  seal(parked: Parked, code: Handle): string | Promise<string>;
  /** @throws where it was sealed under another code */
  open(flow: Flow, code: Handle): Promise<Parked>;
  /** The client is still ours, and so is its redirect URI. @throws OAuthError; undefined where there is no such client */
  redirectOf(flow: Flow): Promise<VerifiedRedirect | undefined>;
  /** The same vendor, endpoints and credentials that the flow began with. @throws OAuthError where they are not the same any more */
  vendorOf(question: VendorQuestion<Flow>, trace: Trace): Promise<Vendor>;
  /** Whether the browser that started must come back, by its cookie. Without it the client has to bind the browser itself. */
  bindsBrowser(flow: Flow): boolean;
  /** What must wait with the code besides it. */
  keep?(vendor: Vendor): Parked["kept"];
  /** Fields that are dropped once the browser is back, and once the flow has ended. */
  readonly forgotten: { readonly whenParked: readonly string[]; readonly atEnd: readonly string[] };
  /**
   * Whether a well-formed wrong PKCE verifier ends the code. Of a confidential client it is an attack or a mixed-up session; of a
   * public client anyone may send it.
   */
  readonly burnsOnWrongVerifier: boolean;
  /** Whether a failure at the vendor gives the code back: the vendor then says whether its own still lives. */
  releases(error: OAuthError): boolean;
  /** How long a code that was used stays known for one; absent: as long as the record is kept. */
  readonly rememberSeconds?: number;
  /** A code came again. */
  replayed?(flow: Flow): Promise<void>;
  /** Flows that end at the callback: keeps the tokens and answers the browser. Where it throws, it has ended what it did not keep. */
  finishAtCallback?(redeemed: Redeemed<Flow, Vendor>, trace: Trace): Promise<Answer>;
  /** The 400 page: it says the same to everyone; the reason goes to the log and the counters. */
  refuse(trace: Trace, reason: FlowRefusal, cause?: unknown): OAuthError;
}
