/**
 * Leg 4, POST /v1/token with grant_type=authorization_code: the backend that holds the PKCE #1 verifier brings the
 * broker's code; only now is the vendor's code redeemed, and nothing is kept.
 * Before it: finish-callback.ts. The client is authenticated.
 */
import {
  type Handle,
  isSameText,
  OAuthError,
  type Parameters,
  parseCodeVerifier,
  parseHandle,
  type StoredRecord,
  toOAuthError,
  verifyCodeVerifier,
} from "@oauth-broker/oauth-core";
import type { ClientConfig } from "../config.ts";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { Deps } from "../deps.ts";
import { accountOf } from "./account.ts";
import { connectionOf, sealConnection } from "./connection.ts";
import { asData, asFlow, CODE_SECONDS, type Flow, flowKey, FORGOTTEN_AT_END } from "./flow-record.ts";
import { discardTokens, openParked, type Parked, redeemAtVendor } from "./parking.ts";
import { type TokenAnswer, tokenAnswer } from "./token-answer.ts";
import { rechooseVendor, type VendorChoice } from "./vendor-choice.ts";

/** @throws OAuthError invalid_grant, invalid_request; what the vendor's answer is translated to */
export async function redeemBrokerCode(
  parameters: Parameters,
  client: ClientConfig,
  deps: Deps,
  trace: Trace,
): Promise<TokenAnswer> {
  const code = readCode(parameters, trace); //                                  1  one of ours by its shape
  const { record, flow } = await findParkedFlow(code, client, deps, trace); //  2  exists, this client's, this very code
  requireSameRedirectUri(flow, parameters); //                                  3  wrong: the code stays usable
  await requireCodeVerifier(parameters, code, flow, client, deps); //           4  malformed: stays usable; wrong: burned
  await requireInTime(code, record, flow, client, deps); //                     5  the vendor's code may be dead by now
  const parked = await openParked(code.flowId, flow, code.value, deps); //      6  sealed under the code just presented
  const choice = await requireSameContext(flow, parked, client, deps); //       7  same vendor, endpoints, credentials
  await spendOnce(code, client, deps); //                                       8  of any number of tries one goes on
  const tokens = await redeem(parked, { code, record, flow, choice }, deps); // 9  the vendor's tokens, verified
  const account = await accountOf(tokens, choice, trace); //                    10 whose they are, where it can be known
  const connection = sealConnection(connectionOf(choice, account), client.clientId, deps); // names what minted them
  return tokenAnswer(tokens, choice.vendor.id, connection, parked.callbackData);
}

function readCode(parameters: Parameters, trace: Trace): Handle {
  const code = parseHandle(parameters.require("code"));
  if (code === undefined) throw codeRefused("not one of ours");
  trace.flowId = code.flowId;
  return code;
}

//= rfc6749#4.1.3
//= bar#XA-8
async function findParkedFlow(
  code: Handle,
  client: ClientConfig,
  { records }: Pick<Deps, "records">,
  trace: Trace,
): Promise<{ record: StoredRecord; flow: Flow }> {
  const record = await records.get(flowKey(code.flowId), { includeExpired: true });
  if (record === undefined) throw codeRefused("no such flow");
  const flow = asFlow(record);
  if (flow.clientId !== client.clientId) throw codeRefused("issued to another client");
  if (!isSameText(flow.codeHash, code.hash)) throw codeRefused("no such code");
  trace.vendor = flow.vendor;
  trace.credentialsId = flow.credentialsId;
  if (record.stage !== "parked") throw codeRefused(`flow is ${record.stage}`);
  return { record, flow };
}

function requireSameRedirectUri(flow: Flow, parameters: Parameters): void {
  if (parameters.require("redirect_uri") !== flow.redirectUri) throw codeRefused("redirect_uri differs");
}

/** A well-formed wrong verifier from the authenticated client is an attack or a mixed-up session: the code ends. */
//= bar#XA-7
async function requireCodeVerifier(
  parameters: Parameters,
  code: Handle,
  flow: Flow,
  client: ClientConfig,
  deps: Deps,
): Promise<void> {
  const codeVerifier = parseCodeVerifier(parameters.get("code_verifier"));
  try {
    verifyCodeVerifier(codeVerifier, flow.codeChallenge);
  } catch (error) {
    const failed = { at: deps.now(), leg: "token", reason: "wrong code_verifier" } as const;
    const burned = await deps.records.advance(
      flowKey(code.flowId),
      { stage: "parked", expect: { codeHash: code.hash, clientId: flow.clientId } },
      { stage: "failed", set: asData({ failed }), remove: FORGOTTEN_AT_END },
    );
    if (burned.outcome === "moved") await discardParked(code, flow, client, deps);
    throw error;
  }
}

async function requireInTime(
  code: Handle,
  record: StoredRecord,
  flow: Flow,
  client: ClientConfig,
  deps: Deps,
): Promise<void> {
  if (record.expiresAt > deps.now()) return;
  await discardParked(code, flow, client, deps);
  throw new OAuthError("invalid_grant", "The code came too late: start again", { reason: "vendor_code_expired" });
}

/** Where the tokens were fetched at the callback already, a code that ends unredeemed must not leave them alive. */
async function discardParked(code: Handle, flow: Flow, client: ClientConfig, deps: Deps): Promise<void> {
  try {
    const parked = await openParked(code.flowId, flow, code.value, deps);
    if (parked.kind !== "tokens") return;
    await discardTokens(parked.tokens, await rechooseVendor(flow, client, parked.vendorSecret, deps));
  } catch {
    // Best effort: what the caller must hear is why the code ended.
  }
}

//= bar#XA-5
async function requireSameContext(
  flow: Flow,
  { vendorSecret }: Parked,
  client: ClientConfig,
  deps: Deps,
): Promise<VendorChoice> {
  const choice = await rechooseVendor(flow, client, vendorSecret, deps);
  if (choice.contextHash === flow.contextHash) return choice;
  throw new OAuthError("invalid_grant", "The vendor's configuration changed: start again", {
    reason: "context_changed",
  });
}

async function spendOnce(
  code: Handle,
  client: ClientConfig,
  { records, now }: Pick<Deps, "records" | "now">,
): Promise<void> {
  const { outcome } = await records.advance(
    flowKey(code.flowId),
    { stage: "parked", expect: { codeHash: code.hash, clientId: client.clientId } },
    { stage: "spent", set: asData({ spentAt: now() }), remove: FORGOTTEN_AT_END },
  );
  if (outcome !== "moved") throw codeRefused("spent by another request");
}

async function redeem(
  parked: Parked,
  { code, record, flow, choice }: { code: Handle; record: StoredRecord; flow: Flow; choice: VendorChoice },
  deps: Deps,
) {
  if (parked.kind === "tokens") return parked.tokens;
  try {
    return await redeemAtVendor({ flowId: code.flowId, flow, choice, answer: parked }, deps);
  } catch (error) {
    const known = toOAuthError(error);
    const nothingWasSent = known.code === "temporarily_unavailable" && known.extras.retry === undefined;
    if (nothingWasSent && (await unspend(code, record, flow, deps))) throw known;
    await recordFailure(code, known, deps);
    throw nothingWasSent ? codeLost(known) : known;
  }
}

/** Nothing left us, so the vendor's code still lives: the caller may try again until it expires. */
//= bar#VR-5
async function unspend(
  code: Handle,
  record: StoredRecord,
  flow: Flow,
  { records }: Pick<Deps, "records">,
): Promise<boolean> {
  const restored = await records
    .advance(
      flowKey(code.flowId),
      { stage: "spent", expect: { codeHash: code.hash } },
      {
        stage: "parked",
        set: asData(flow.sealed === undefined ? {} : { sealed: flow.sealed }),
        remove: ["spentAt"],
        expiresAt: record.expiresAt,
      },
    )
    .catch(() => undefined);
  return restored?.outcome === "moved";
}

/** The vendor saw nothing, but our own record could not be put back: the caller must not wait for this code. */
function codeLost(cause: OAuthError): OAuthError {
  return new OAuthError("temporarily_unavailable", "The code was lost: start again", { retry: "restart", cause });
}

/** For the timeline only; the code is gone either way, and the vendor's answer matters more than a store that is down. */
async function recordFailure(
  code: Handle,
  error: OAuthError,
  { records, now }: Pick<Deps, "records" | "now">,
): Promise<void> {
  const failed = { at: now(), leg: "token", reason: error.code } as const;
  await records
    .advance(
      flowKey(code.flowId),
      { stage: "spent", expect: { codeHash: code.hash } },
      { stage: "failed", set: asData({ failed }), expiresAt: now() + CODE_SECONDS },
    )
    .catch(() => undefined);
}

/** One answer for unknown, foreign, used and malformed codes; the log knows which. */
function codeRefused(detail: string): OAuthError {
  return new OAuthError("invalid_grant", "The code is unknown, used or not yours", { detail });
}
