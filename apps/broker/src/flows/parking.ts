/**
 * Between leg 3 and leg 4 the vendor's code waits in the flow record, sealed under a key derived from the broker's code.
 * Of that code only the hash is stored: store and server keys together do not open it.
 */
import {
  grantRevocation,
  type Handle,
  OAuthError,
  type ResolvedVendor,
  type VendorTokens,
} from "@oauth-broker/oauth-core";
import { deriveKey, open, seal } from "@oauth-broker/token-store";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { Deps } from "../deps.ts";
import { asData, CODE_SECONDS, type Flow, flowKey, FORGOTTEN_WHEN_PARKED } from "./flow-record.ts";
import { flowSecrets } from "./flow-secrets.ts";
import { refusePage } from "./refusal.ts";
import type { VendorChoice } from "./vendor-choice.ts";

/** What the vendor's redirect brought. */
export interface VendorAnswer {
  readonly code: string;
  readonly iss: string | undefined;
  /** The callback parameters the vendor's entry declares. */
  readonly callbackData: Readonly<Record<string, string>>;
}

export type Parked = {
  /** Of BYOC: from here on only the broker's code opens it. */
  readonly vendorSecret?: string;
} & (
  | ({ readonly kind: "code" } & VendorAnswer)
  | { readonly kind: "tokens"; readonly tokens: VendorTokens; readonly callbackData: Readonly<Record<string, string>> }
);

interface ToPark {
  readonly flowId: string;
  readonly flow: Flow;
  readonly expect: Readonly<Record<string, string>>;
  readonly choice: VendorChoice;
  readonly answer: VendorAnswer;
  /** The broker's code. */
  readonly code: Handle;
}

/** Room for the broker's own call before the vendor's code dies. */
const MARGIN_SECONDS = 5;
/** Tokens parked for a vendor with `redeem_at: callback` wait as long as any code. */
const PARKED_TOKENS = "parked-tokens";

export function codeLifetimeSeconds(vendor: Pick<ResolvedVendor, "authorizationCodeLifetimeSeconds">): number {
  return Math.max(1, Math.min(CODE_SECONDS, (vendor.authorizationCodeLifetimeSeconds ?? Infinity) - MARGIN_SECONDS));
}

/** started → parked. @throws OAuthError for the 400 page when another answer was faster */
export async function parkVendorCode(
  { flowId, expect, choice, answer, code, lifetimeSeconds }: ToPark & { readonly lifetimeSeconds: number },
  { records, now }: Pick<Deps, "records" | "now">,
  trace: Trace,
): Promise<void> {
  const parked: Parked = { kind: "code", ...answer, ...secretOf(choice) };
  const at = now();
  const set: Partial<Flow> = {
    codeHash: code.hash,
    sealed: seal(deriveKey(code.value, "parked-code"), JSON.stringify(parked), sealContext(flowId, "code")),
    parkedAt: at,
    issVerified: answer.iss !== undefined,
  };
  const { outcome } = await records.advance(
    flowKey(flowId),
    { stage: "started", expect },
    { stage: "parked", set: asData(set), remove: FORGOTTEN_WHEN_PARKED, expiresAt: at + lifetimeSeconds },
  );
  //= bar#CB-3
  if (outcome !== "moved") throw refusePage(trace, "state_replayed");
}

/**
 * started → redeeming → parked, for vendors whose codes die before a backend can come back: the tokens wait instead.
 * The state is spent before the code leaves us, so a crash in between loses the flow and never uses the code twice.
 */
//= bar#CB-17
export async function parkVendorTokens(
  { flowId, flow, expect, choice, answer, code }: ToPark,
  deps: Pick<Deps, "records" | "now" | "keyset">,
  trace: Trace,
): Promise<void> {
  const { records, now, keyset } = deps;
  const spent = await records.advance(flowKey(flowId), { stage: "started", expect }, { stage: "redeeming", set: {} });
  if (spent.outcome !== "moved") throw refusePage(trace, "state_replayed");
  const tokens = await redeemAtVendor({ flowId, flow, choice, answer }, deps);
  const { kid, key } = keyset.active(PARKED_TOKENS);
  const parked: Parked = { kind: "tokens", tokens, callbackData: answer.callbackData, ...secretOf(choice) };
  const at = now();
  const set: Partial<Flow> = {
    codeHash: code.hash,
    sealed: `${kid}.${seal(tokenKey(key, code.value), JSON.stringify(parked), sealContext(flowId, "tokens"))}`,
    parkedAt: at,
    issVerified: answer.iss !== undefined,
  };
  const stored = await records
    .advance(
      flowKey(flowId),
      { stage: "redeeming", expect },
      { stage: "parked", set: asData(set), remove: FORGOTTEN_WHEN_PARKED, expiresAt: at + CODE_SECONDS },
    )
    .catch(() => undefined);
  if (stored?.outcome === "moved") return;
  await discardTokens(tokens, choice);
  throw new OAuthError("temporarily_unavailable", "The tokens could not be kept: start again", { retry: "restart" });
}

/** Parked tokens whose code ended unredeemed are revoked at the vendor, best effort. */
//= bar#XA-7
export async function discardTokens(
  tokens: VendorTokens,
  { vendor, credentials, vendorClient }: Pick<VendorChoice, "vendor" | "credentials" | "vendorClient">,
): Promise<void> {
  await vendorClient.revokeToken(vendor, credentials, grantRevocation(vendor, tokens)).catch(() => undefined);
}

/** @throws OAuthError invalid_grant when it was sealed under another code: the record was tampered with */
export async function openParked(
  flowId: string,
  flow: Flow,
  brokerCode: string,
  { keyset }: Pick<Deps, "keyset">,
): Promise<Parked> {
  const sealed = flow.sealed ?? "";
  const dot = sealed.indexOf(".");
  try {
    if (dot < 0) return parse(open(deriveKey(brokerCode, "parked-code"), sealed, sealContext(flowId, "code")));
    const key = await keyset.find(PARKED_TOKENS, sealed.slice(0, dot));
    if (key === undefined) throw new Error("the key of these tokens is gone");
    return parse(open(tokenKey(key, brokerCode), sealed.slice(dot + 1), sealContext(flowId, "tokens")));
  } catch (cause) {
    throw new OAuthError("invalid_grant", "The code cannot be redeemed", {
      cause,
      detail: "parked value does not open",
    });
  }
}

/** The one place where a vendor's code is spent. @throws OAuthError as VendorClient.redeemCode */
export async function redeemAtVendor(
  { flowId, flow, choice, answer }: Pick<ToPark, "flowId" | "flow" | "choice"> & { readonly answer: VendorAnswer },
  { keyset }: Pick<Deps, "keyset">,
): Promise<VendorTokens> {
  const key = await keyset.find("flow", flow.kid ?? "");
  if (key === undefined)
    throw new OAuthError("invalid_grant", "The code cannot be redeemed", { detail: "flow key is gone" });
  const { codeVerifier, nonce } = flowSecrets(key, flowId, choice.vendor, flow.scope);
  return choice.vendorClient.redeemCode(choice.vendor, choice.credentials, {
    code: answer.code,
    redirectUri: choice.redirectUri,
    scope: flow.scope,
    ...(flow.resource === undefined ? {} : { resource: flow.resource }),
    ...(answer.iss === undefined ? {} : { iss: answer.iss }),
    ...(codeVerifier === undefined ? {} : { codeVerifier }),
    ...(nonce === undefined ? {} : { nonce }),
  });
}

function secretOf({ credentials: { source, clientSecret } }: VendorChoice): Pick<Parked, "vendorSecret"> {
  return source === "byoc" && clientSecret !== undefined ? { vendorSecret: clientSecret.reveal() } : {};
}

function parse(plaintext: Buffer): Parked {
  return JSON.parse(plaintext.toString("utf8")) as Parked;
}

function tokenKey(key: Buffer, brokerCode: string): Buffer {
  return deriveKey(Buffer.concat([key, Buffer.from(brokerCode)]), PARKED_TOKENS);
}

function sealContext(flowId: string, what: string): string[] {
  return ["flow", flowId, what];
}
