/**
 * A client sends our code with the verifier of PKCE #1. Only now is the vendor's code redeemed,
 * unless its entry says `redeem_at: callback`. The caller has authenticated the client, or knows
 * its name if it is public. Before it: callback.ts.
 */
import { type Handle, parseHandle } from "../authorization-server/handle.ts";
import { OAuthError, toOAuthError, withoutRestart, withRestart } from "../protocol/errors.ts";
import { isSameText } from "../protocol/secret.ts";
import type { Parameters } from "../protocol/parameters.ts";
import { parseCodeVerifier, verifyCodeVerifier } from "../protocol/pkce.ts";
import type { StoredRecord } from "../ports.ts";
import type { VendorTokens } from "../registry/vendor.ts";
import { discardTokens, redeemAtVendor } from "./park.ts";
import { type Engine, failFlow, keyOf, type Leg, nameFlow } from "./engine.ts";
import type { FlowVendor, Parked, Redeemed } from "./policy.ts";
import { CODE_SECONDS, flowData, type FlowRecord } from "./record.ts";

interface ParkedFlow {
  readonly code: Handle;
  readonly record: StoredRecord;
  readonly flow: FlowRecord;
}

/** @throws OAuthError invalid_grant, invalid_request; otherwise the vendor's error, translated */
export async function redeemCode(
  parameters: Parameters,
  clientId: string,
  engine: Leg,
): Promise<Redeemed<FlowRecord, FlowVendor>> {
  // 1. one of our own, this client's, this very code
  const own = await findParked(parameters, clientId, engine);
  // 2. wrong: the code stays usable
  requireSameRedirectUri(own, parameters, engine);
  // 3. malformed: stays usable; wrong: the policy says
  await requireCodeVerifier(own, parameters, engine);
  // 4. a second use is reported to the app
  await requireUnused(own, engine);
  // 5. the vendor's code may be dead by now
  await requireInTime(own, engine);
  // 6. sealed under the code just presented
  const parked = await open(own, engine);
  // 7. same vendor, endpoints, credentials
  const vendor = await vendorOf(own, parked, engine);
  // 8. of any number of tries one goes on
  await spend(own, engine);
  // 9. the vendor's tokens, verified
  const tokens = await redeem(own, parked, vendor, engine);
  return { flowId: own.code.flowId, flow: own.flow, vendor, tokens, callbackData: parked.callbackData };
}

/** Adds fields to the record of a spent code, for the app that has the result. Best effort. */
export async function rememberSpent(
  flowId: string,
  { codeHash = "" }: FlowRecord,
  set: object,
  engine: Engine,
): Promise<void> {
  const redeemed = { stage: "redeemed", set: flowData(set), ...rememberedUntil(engine) };
  await engine.deps.records
    .advance(keyOf(flowId, engine), { stage: "spent", expect: { codeHash } }, redeemed)
    .catch(() => undefined);
}

//= rfc6749#4.1.3
//= bar#XA-8
async function findParked(parameters: Parameters, clientId: string, engine: Leg): Promise<ParkedFlow> {
  const { deps, policy, trace } = engine;
  const code = parseHandle(parameters.require("code"));
  if (code === undefined) throw codeRefused("not one of ours");
  trace.flowId = code.flowId;
  const record = await deps.records.get(keyOf(code.flowId, engine), { includeExpired: true });
  const flow = record === undefined ? undefined : policy.parse(record);
  if (record === undefined || flow === undefined) throw codeRefused("no such flow");
  //= bar#XA-8
  if (flow.clientId !== clientId) throw codeRefused("issued to another client");
  if (!isSameText(flow.codeHash, code.hash)) throw codeRefused("no such code");
  nameFlow(trace, flow);
  return { code, record, flow };
}

//= bar#AS-6
function requireSameRedirectUri({ flow }: ParkedFlow, parameters: Parameters, { policy }: Engine): void {
  const isLeftOut = policy.redirectUriAtToken === "optional" && !parameters.has("redirect_uri");
  //= bar#XA-8
  if (isLeftOut || parameters.require("redirect_uri") === flow.redirectUri) return;
  throw codeRefused("redirect_uri differs");
}

//= bar#AS-3
//= bar#XA-7
async function requireCodeVerifier(own: ParkedFlow, parameters: Parameters, engine: Leg): Promise<void> {
  const codeVerifier = parseCodeVerifier(parameters.get("code_verifier"));
  try {
    //= bar#AS-3
    verifyCodeVerifier(codeVerifier, own.flow.codeChallenge ?? "");
  } catch (error) {
    //= bar#XA-7
    if (engine.policy.burnsOnWrongVerifier) await burn(own, "wrong code_verifier", engine);
    throw error;
  }
}

async function burn(own: ParkedFlow, reason: string, engine: Leg): Promise<void> {
  const isBurned = await failFlow({ ...heldBy(own), stage: "parked" }, { leg: "token", reason }, engine);
  if (isBurned) await discardParked(own, engine);
}

//= bar#AS-4
async function requireUnused({ record, flow }: ParkedFlow, { policy }: Engine): Promise<void> {
  if (record.stage === "parked") return;
  await policy.replayed?.(flow);
  throw codeRefused(`flow is ${record.stage}`);
}

async function requireInTime(own: ParkedFlow, engine: Leg): Promise<void> {
  //= bar#XA-8
  if (own.record.expiresAt > engine.deps.now()) return;
  await discardParked(own, engine);
  throw new OAuthError("invalid_grant", "The code came too late: start again", { reason: "vendor_code_expired" });
}

/** Revokes tokens that were fetched at the callback when their code ends unredeemed. */
async function discardParked(own: ParkedFlow, engine: Leg): Promise<void> {
  try {
    const parked = await open(own, engine);
    if (parked.kind === "tokens") await discardTokens(parked.tokens, await vendorOf(own, parked, engine));
  } catch {
    // Best effort: the caller must learn why the code ended.
  }
}

/**
 * @throws OAuthError invalid_grant when the value was sealed under another code: the record was
 *   altered; temporarily_unavailable without keys, and then the code stays usable
 */
async function open({ code, flow }: ParkedFlow, { policy }: Engine): Promise<Parked> {
  return policy.open(flow, code).catch((cause: unknown) => {
    if (cause instanceof OAuthError) throw cause;
    throw new OAuthError("invalid_grant", "The code cannot be redeemed", {
      cause,
      detail: "parked value does not open",
    });
  });
}

//= bar#XA-5
async function vendorOf(
  { code: { flowId }, flow }: ParkedFlow,
  { kept }: Parked,
  { policy, trace }: Leg,
): Promise<FlowVendor> {
  return policy.vendorOf({ leg: "token", flowId, flow, kept }, trace);
}

//= bar#AS-4
async function spend(own: ParkedFlow, engine: Engine): Promise<void> {
  const { deps, policy } = engine;
  const { flowId, expect } = heldBy(own);
  const spent = await deps.records.advance(
    keyOf(flowId, engine),
    { stage: "parked", expect },
    // If the process dies here, the code is used up.
    {
      stage: "spent",
      set: flowData({ spentAt: deps.now() }),
      remove: policy.forgotten.atEnd,
      ...rememberedUntil(engine),
    },
  );
  if (spent.outcome === "moved") return;
  const flow = spent.outcome === "replayed" ? policy.parse(spent.record) : undefined;
  if (flow !== undefined) await policy.replayed?.(flow);
  //= bar#XA-8
  throw codeRefused("spent by another request");
}

async function redeem(own: ParkedFlow, parked: Parked, vendor: FlowVendor, engine: Engine): Promise<VendorTokens> {
  if (parked.kind === "tokens") return parked.tokens;
  const { flow, code } = own;
  try {
    return await redeemAtVendor({ flowId: code.flowId, flow, vendor, answer: parked }, engine.policy);
  } catch (thrown) {
    const error = toOAuthError(thrown);
    const isReleasable = engine.policy.releases(error);
    if (isReleasable && (await unspend(own, engine))) throw withoutRestart(error);
    await recordFailure(own, error, engine);
    // Our record could not be restored, so the caller must not retry with this code.
    throw isReleasable ? withRestart(error) : error;
  }
}

/**
 * Restores the record, because the vendor's code may still be valid. The client can retry until our
 * code expires.
 */
//= bar#VR-5
async function unspend({ code, record }: ParkedFlow, engine: Engine): Promise<boolean> {
  const dropped = engine.policy.forgotten.atEnd.filter((name) => Object.hasOwn(record.data, name));
  const set = Object.fromEntries(dropped.map((name) => [name, record.data[name]]));
  const parked = { stage: "parked", set: flowData(set), remove: ["spentAt"], expiresAt: record.expiresAt };
  const restored = await engine.deps.records
    .advance(keyOf(code.flowId, engine), { stage: "spent", expect: { codeHash: code.hash } }, parked)
    .catch(() => undefined);
  return restored?.outcome === "moved";
}

/**
 * For the operator. Best effort: the code is used up in any case, and the vendor's error must reach
 * the client.
 */
async function recordFailure({ code }: ParkedFlow, error: OAuthError, engine: Engine): Promise<void> {
  const spent = { flowId: code.flowId, stage: "spent", expect: { codeHash: code.hash } } as const;
  const expiresAt = engine.deps.now() + (engine.policy.rememberSeconds ?? CODE_SECONDS);
  await failFlow(spent, { leg: "token", reason: error.code }, engine, expiresAt).catch(() => undefined);
}

/** The fields that must be unchanged for a write to a parked record. */
function heldBy({ code, flow }: ParkedFlow): { readonly flowId: string; readonly expect: Record<string, string> } {
  return { flowId: code.flowId, expect: { codeHash: code.hash, clientId: flow.clientId ?? "" } };
}

function rememberedUntil({ deps, policy: { rememberSeconds } }: Engine): { readonly expiresAt?: number } {
  return rememberSeconds === undefined ? {} : { expiresAt: deps.now() + rememberSeconds };
}

/** One error for unknown, foreign, used and malformed codes; the log has the difference. */
function codeRefused(detail: string): OAuthError {
  return new OAuthError("invalid_grant", "The code is unknown, used or not yours", { detail });
}
