/**
 * What the broker decides for its flows: codes belong to confidential clients, vendors come from
 * the operator's file or from the caller, and no tokens are kept. The client that sends the code
 * receives them.
 */
import { OAuthError, parseExactJson, toOAuthError } from "@oauth-broker/oauth-core";
import { isSameText, type StateClaims, type StateCodec } from "@oauth-broker/oauth-core/protocol";
import { verifyRedirectUri } from "@oauth-broker/oauth-core/authorization-server";
import {
  type BrokeredCode,
  createBrokeredCode,
  type FlowPolicy,
  flowSecrets,
  type FlowState,
  type Parked,
  type ReadState,
  type VendorLookup,
} from "@oauth-broker/oauth-core/brokered-code";
import type { Trace } from "@oauth-broker/service/http";
import { deriveKey, open, seal } from "@oauth-broker/token-store";
import type { Deps } from "../deps.ts";
import { keysUnavailable } from "../keys/keys-unavailable.ts";
import { asFlow, type Flow, FORGOTTEN, openVendorSecret } from "./flow-record.ts";
import { refusePage } from "./refusal.ts";
import { rechooseVendor, type VendorChoice } from "../vendor-choice/choose.ts";

export type Flows = BrokeredCode<Flow, VendorChoice>;

/** What a leg needs: the dependencies, and the engine. */
export interface LegDeps extends Deps {
  readonly flows: Flows;
}

export function createFlows(deps: Deps): Flows {
  return createBrokeredCode(deps, flowPolicy(deps));
}

function flowPolicy(deps: Deps): FlowPolicy<Flow, VendorChoice> {
  const { keyset, clients } = deps;
  return {
    kind: "flow",
    parse: asFlow,
    state: signedState(deps.state),
    secrets: async (flowId, { kid = "", scope }, vendor) => {
      const key = await keyset.find("flow", kid);
      if (key === undefined) throw keysUnavailable("the keyset lacks the key that this flow began with");
      return flowSecrets({ pkce: key, nonce: key }, flowId, vendor, scope);
    },
    ...parkedUnder(deps),
    redirectOf: async ({ clientId, redirectUri }) => {
      const client = await clients.find(clientId);
      return client === undefined ? undefined : verifyRedirectUri(redirectUri, client.redirectUris);
    },
    vendorOf: (lookup, trace) => sameVendor(lookup, deps, trace),
    bindsBrowser: ({ binding }) => binding === "browser",
    keep: ({ credentials: { source, clientSecret } }) =>
      source === "byoc" && clientSecret !== undefined ? { vendorSecret: clientSecret.reveal() } : undefined,
    forgotten: FORGOTTEN,
    //= bar#XA-7
    burnsOnWrongVerifier: true,
    // The request did not leave the broker. An outage with `retry` means that the vendor may have
    // seen the code.
    releases: ({ code, extras }) => code === "temporarily_unavailable" && extras.retry === undefined,
    refuse: refusePage,
  };
}

function signedState(codec: StateCodec): FlowState<Flow> {
  return {
    issue: (flowId, { contextHash }, times) => ({ value: codec.sign({ jti: flowId, contextHash, ...times }) }),
    read: async (value) => claimed(codec.verify(value)),
    identify: async (value) => claimed(codec.identify(value)),
  };
}

async function claimed(state: Promise<StateClaims>): Promise<ReadState<Flow> | undefined> {
  try {
    const { jti, contextHash } = await state;
    //= bar#XA-5
    return { flowId: jti, isOf: (flow) => isSameText(flow.contextHash, contextHash) };
  } catch (error) {
    if (toOAuthError(error).code === "invalid_request") return undefined;
    throw error;
  }
}

/**
 * Tokens parked for a vendor with `redeem_at: callback` are sealed under a server key in addition
 * to our code.
 */
const PARKED_TOKENS = "parked-tokens";

function parkedUnder({ keyset }: Pick<Deps, "keyset">): Pick<FlowPolicy<Flow, VendorChoice>, "seal" | "open"> {
  return {
    seal: (parked, code) => {
      const text = JSON.stringify(toStored(parked));
      if (parked.kind === "code")
        return seal(deriveKey(code.value, "parked-code"), text, ["flow", code.flowId, "code"]);
      const { kid, key } = keyset.active(PARKED_TOKENS);
      return `${kid}.${seal(tokenKey(key, code.value), text, ["flow", code.flowId, "tokens"])}`;
    },
    open: async ({ sealed = "" }, code) => {
      const dot = sealed.indexOf(".");
      if (dot < 0) return fromStored(open(deriveKey(code.value, "parked-code"), sealed, ["flow", code.flowId, "code"]));
      const key = await keyset.find(PARKED_TOKENS, sealed.slice(0, dot));
      if (key === undefined) throw new Error("the key of these tokens is gone");
      return fromStored(open(tokenKey(key, code.value), sealed.slice(dot + 1), ["flow", code.flowId, "tokens"]));
    },
  };
}

function tokenKey(key: Buffer, code: string): Buffer {
  return deriveKey(Buffer.concat([key, Buffer.from(code)]), PARKED_TOKENS);
}

/** The BYOC secret is beside the other fields, as 0.1.0 wrote it. */
function toStored({ kept, ...parked }: Parked): object {
  return { ...parked, ...kept };
}

function fromStored(plaintext: Buffer): Parked {
  // Parked tokens hold what the vendor wrote, numbers included.
  const stored = parseExactJson(plaintext.toString("utf8")) as unknown as Parked & { vendorSecret?: string };
  const { vendorSecret, ...parked } = stored;
  return vendorSecret === undefined ? parked : { ...parked, kept: { vendorSecret } };
}

/** Resolves vendor, endpoints and credentials as pushed, from the present configuration. */
//= bar#XA-5
async function sameVendor(lookup: VendorLookup<Flow>, deps: Deps, trace: Trace): Promise<VendorChoice> {
  const { leg, flowId, flow } = lookup;
  const client = await deps.clients.find(flow.clientId);
  if (client === undefined) throw refusePage(trace, "client_unknown");
  const secret = leg === "token" ? lookup.kept?.["vendorSecret"] : await openVendorSecret(flowId, flow, deps);
  const choice = await rechooseVendor(flow, client, secret, deps);
  if (choice.contextHash === flow.contextHash) return choice;
  if (leg === "callback") throw refusePage(trace, "context_mismatch");
  throw new OAuthError(
    leg === "token" ? "invalid_grant" : "temporarily_unavailable",
    "The vendor's configuration changed: start again",
    { reason: "context_changed", ...(leg === "authorize" && { retry: "restart" }) },
  );
}
