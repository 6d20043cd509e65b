/**
 * Leg 3, GET /callback: the vendor sends the browser back. Its code is not redeemed here but parked, sealed under a key that
 * only the next caller has, and the browser goes on to the client with a code of ours. Before it: take-decision.ts. After it:
 * redeem-own-code.ts.
 */
import {
  clearBindingCookie,
  createHandle,
  isSameText,
  parseHandle,
  type Parameters,
  readBindingCookie,
  relayedError,
  requireIssuer,
  type VerifiedRedirect,
  verifyNativeRedirectUri,
} from "@oauth-broker/oauth-core";
import { type Answer, type ClientReturn, codeRedirect } from "@oauth-broker/oauth-core/hono";
import type { Trace } from "@oauth-broker/oauth-core/service";
import { deriveKey, seal } from "@oauth-broker/token-store";
import { identitySource, isSameSource } from "../identity-source.ts";
import {
  asAuthorization,
  asData,
  type Authorization,
  authorizationKey,
  CODE_SECONDS,
  REMEMBERED_SECONDS,
} from "./authorization-record.ts";
import { refusePage, refuseToClient, type ServerCallbackDeps } from "./deps.ts";
import { isSameBrowser } from "./same-browser.ts";

interface OpenFlow {
  readonly flowId: string;
  readonly flow: Authorization;
}

/** @throws OAuthError for the 400 page: state, browser and issuer are checked before anything changes */
export async function finishCallback(
  parameters: Parameters,
  cookieHeader: string | undefined,
  deps: ServerCallbackDeps,
  trace: Trace,
): Promise<Answer> {
  const open = await findStarted(parameters, cookieHeader, deps, trace); // 1  our state, this browser, not answered yet
  const redirect = await requireClient(open, deps, trace); //               2  still a client of ours, still its URI
  const vendor = await requireVendor(parameters, deps, trace); //           3  the vendor we sent the browser to
  const code = requireOneOutcome(parameters, trace); //                     4  a code, or an error
  const { flowId, flow } = open;
  const to = { redirect, state: flow.state, issuer: deps.settings.deploymentUrl, flowId };
  const cleared = clearBindingCookie(deps.settings.deploymentUrl, flowId);
  if (code !== undefined) return park(code, open, to, cleared, deps, trace); // 5
  const error = relayedError(parameters.require("error"), parameters, vendor, "environment");
  await advance("failed", open, {}, REMEMBERED_SECONDS, deps, trace);
  const answer = refuseToClient(error, to, trace);
  return { ...answer, headers: { ...answer.headers, ...cleared } };
}

async function findStarted(
  parameters: Parameters,
  cookieHeader: string | undefined,
  { records, settings }: ServerCallbackDeps,
  trace: Trace,
): Promise<OpenFlow> {
  const state = parseHandle(parameters.get("state") ?? "");
  const record = state === undefined ? undefined : await records.get(authorizationKey(state.flowId));
  if (state === undefined || record === undefined) throw refusePage(trace, "state_unknown");
  const flow = asAuthorization(record);
  if (!isSameText(flow.stateHash, state.hash)) throw refusePage(trace, "state_unknown");
  trace.flowId = state.flowId;
  trace.clientId = flow.clientId;
  // The operator has changed the vendor meanwhile: what comes back is another's code.
  if (!isSameSource(flow, identitySource(settings))) throw refusePage(trace, "state_unknown");
  if (record.stage !== "started") throw refusePage(trace, "state_replayed");
  const browser = readBindingCookie(cookieHeader, settings.deploymentUrl, state.flowId);
  if (!isSameBrowser(browser, flow)) throw refusePage(trace, "browser_mismatch");
  return { flowId: state.flowId, flow };
}

async function requireClient(
  { flow }: OpenFlow,
  { findClient }: ServerCallbackDeps,
  trace: Trace,
): Promise<VerifiedRedirect> {
  const client = await findClient(flow.clientId);
  if (client === undefined) throw refusePage(trace, "client_unknown");
  return verifyNativeRedirectUri(flow.redirectUri, client.redirectUris);
}

async function requireVendor(
  parameters: Parameters,
  { vendorClient, settings }: ServerCallbackDeps,
  trace: Trace,
): ReturnType<ServerCallbackDeps["vendorClient"]["resolve"]> {
  const vendor = await vendorClient.resolve(settings.vendor.vendor);
  try {
    requireIssuer(vendor, parameters.sent("iss"));
  } catch (error) {
    throw refusePage(trace, "issuer_mismatch", error);
  }
  return vendor;
}

const MAX_CODE_LENGTH = 4096;

/** @returns the vendor's code; undefined where the answer is an error */
function requireOneOutcome(parameters: Parameters, trace: Trace): string | undefined {
  const code = parameters.get("code");
  const isOneOutcome = (code === undefined) !== (parameters.get("error") === undefined);
  if (!isOneOutcome || (code?.length ?? 0) > MAX_CODE_LENGTH) throw refusePage(trace, "malformed_response");
  return code;
}

async function park(
  vendorCode: string,
  open: OpenFlow,
  to: ClientReturn,
  headers: Record<string, string>,
  deps: ServerCallbackDeps,
  trace: Trace,
): Promise<Answer> {
  const code = createHandle(open.flowId);
  const sealedCode = seal(deriveKey(code.value, "vendor-code"), vendorCode, ["authorization", open.flowId]);
  const { authorizationCodeLifetimeSeconds: life = CODE_SECONDS + 5 } = deps.settings.vendor.vendor;
  await advance("parked", open, { codeHash: code.hash, sealedCode }, Math.min(CODE_SECONDS, life - 5), deps, trace);
  return codeRedirect(code.value, to, headers);
}

/** Of any number of answers to one state, one is taken. */
async function advance(
  stage: "parked" | "failed",
  { flowId, flow }: OpenFlow,
  set: Partial<Authorization>,
  lifetimeSeconds: number,
  { records, now }: ServerCallbackDeps,
  trace: Trace,
): Promise<void> {
  const { stateHash, cookieHash } = flow;
  const { outcome } = await records.advance(
    authorizationKey(flowId),
    { stage: "started", expect: { stateHash, cookieHash } },
    { stage, set: asData(set), expiresAt: now() + lifetimeSeconds },
  );
  if (outcome !== "moved") throw refusePage(trace, "state_replayed");
}
