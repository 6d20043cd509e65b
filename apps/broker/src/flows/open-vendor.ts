/**
 * Leg 2, GET /v1/authorize: the user's browser arrives with the request_uri and leaves for the vendor.
 * Where clients of several owners share the credentials it is shown who asks first, and owner-decision.ts goes on.
 * Before it: push-request.ts. After it: the vendor sends the browser to finish-callback.ts.
 */
import {
  type BindingCookie,
  createBindingCookie,
  type Handle,
  isSameText,
  OAuthError,
  type Parameters,
  parseRequestUri,
  readBindingCookie,
  setBindingCookie,
  type StoredRecord,
  toOAuthError,
  verifyRedirectUri,
} from "@oauth-broker/oauth-core";
import { type Answer, type ClientReturn, errorRedirect, redirectAnswer } from "@oauth-broker/oauth-core/hono";
import type { ClientConfig } from "../config.ts";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { Deps } from "../deps.ts";
import { ownerPage } from "../pages/owner-page.ts";
import { asData, asFlow, type Flow, FLOW_SECONDS, flowKey } from "./flow-record.ts";
import { flowSecrets } from "./flow-secrets.ts";
import { csrfToken, needsOwnerPage } from "./owner-consent.ts";
import { refusePage } from "./refusal.ts";
import { rechooseVendor, type VendorChoice } from "./vendor-choice.ts";
import { openVendorSecret } from "./vendor-secret.ts";

/** A browser with a request_uri that is this client's, unexpired, and still of use to it. */
export interface Arrival {
  readonly handle: Handle;
  readonly stage: string;
  readonly flow: Flow;
  readonly client: ClientConfig;
  /** Absent where the browser brought none of this flow's name. */
  readonly cookie: BindingCookie | undefined;
  /** Where failures go from here. */
  readonly to: ClientReturn;
}

/** @throws OAuthError for the 400 page until client and request_uri are known; afterwards failures are redirects */
export async function openVendor(
  parameters: Parameters,
  cookieHeader: string | undefined,
  deps: Deps,
  trace: Trace,
): Promise<Answer> {
  const arrival = await findArrival(parameters, cookieHeader, deps, trace); // 1  unused and this client's, or a reload here
  const cookie = arrival.cookie ?? createBindingCookie();
  const choice = await chooseAgain(arrival, deps); //                          2  from here failures go to the client
  if (choice instanceof OAuthError) return refuseToClient(choice, arrival.to, trace);
  if (arrival.stage === "pushed" && needsOwnerPage(choice, arrival.client, deps)) {
    return askUser(arrival, choice, cookie, parameters, deps); //              3  spends nothing
  }
  return leave(arrival, choice, cookie, deps, trace);
}

/** @throws OAuthError for the 400 page */
export async function findArrival(
  parameters: Parameters,
  cookieHeader: string | undefined,
  deps: Deps,
  trace: Trace,
): Promise<Arrival> {
  const handle = readHandle(parameters, trace);
  const cookie = readBindingCookie(cookieHeader, deps.issuer, handle.flowId);
  const { flow, stage } = await findFlow(handle, parameters.require("client_id"), cookie, deps, trace);
  const client = await requireClient(flow, deps, trace);
  const redirect = verifyRedirectUri(flow.redirectUri, client.redirectUris);
  const to = { redirect, state: flow.state, issuer: deps.issuer, flowId: handle.flowId };
  return { handle, stage, flow, client, cookie, to };
}

/**
 * Vendor, endpoints and credentials as pushed; nothing is spent yet.
 *
 * @returns the error where it must go to the client
 */
export async function chooseAgain({ handle, flow, client }: Arrival, deps: Deps): Promise<VendorChoice | OAuthError> {
  return sameContext(handle.flowId, flow, client, deps).catch((error: unknown) => toOAuthError(error));
}

function askUser(
  { handle, flow, client }: Arrival,
  { vendor }: VendorChoice,
  cookie: BindingCookie,
  parameters: Parameters,
  { issuer }: Pick<Deps, "issuer">,
): Answer {
  const shown = {
    client,
    vendorName: vendor.name,
    scope: flow.scope,
    redirectUri: flow.redirectUri,
    requestUri: parameters.require("request_uri"),
    csrf: csrfToken(handle.flowId, cookie),
    flowId: handle.flowId,
  };
  return ownerPage(shown, setBindingCookie(issuer, handle.flowId, cookie.value));
}

/** Single use; PKCE #2, nonce and state are made here. */
export async function leave(
  { handle, flow }: Arrival,
  choice: VendorChoice,
  cookie: BindingCookie,
  deps: Deps,
  trace: Trace,
): Promise<Answer> {
  const record = await startOnce(handle, flow.clientId, cookie, deps, trace);
  const url = await vendorUrl(record, choice, deps);
  return redirectAnswer(url, setBindingCookie(deps.issuer, handle.flowId, cookie.value));
}

function readHandle(parameters: Parameters, trace: Trace): Handle {
  const handle = parseRequestUri(parameters.require("request_uri"));
  if (handle === undefined) throw refusePage(trace, "request_uri_unknown");
  trace.flowId = handle.flowId;
  return handle;
}

/** The expired ones too: the page can then lead back to the client they belonged to. */
async function findFlow(
  handle: Handle,
  clientId: string,
  cookie: BindingCookie | undefined,
  { records, now }: Pick<Deps, "records" | "now">,
  trace: Trace,
): Promise<{ readonly flow: Flow; readonly stage: string }> {
  const record = await records.get(flowKey(handle.flowId), { includeExpired: true });
  const flow = record === undefined ? undefined : asFlow(record);
  if (
    record === undefined ||
    flow === undefined ||
    !isSameText(flow.requestHash, handle.hash) ||
    flow.clientId !== clientId
  ) {
    throw refusePage(trace, "request_uri_unknown");
  }
  trace.clientId = flow.clientId;
  trace.vendor = flow.vendor;
  trace.credentialsId = flow.credentialsId;
  if (record.expiresAt <= now()) throw refusePage(trace, "request_uri_unknown");
  requireUnusedOrSameBrowser(record, cookie, trace);
  return { flow, stage: record.stage };
}

async function requireClient(flow: Flow, { clients }: Pick<Deps, "clients">, trace: Trace): Promise<ClientConfig> {
  const client = await clients.find(flow.clientId);
  if (client === undefined) throw refusePage(trace, "client_unknown");
  return client;
}

//= bar#XA-5
async function sameContext(flowId: string, flow: Flow, client: ClientConfig, deps: Deps): Promise<VendorChoice> {
  const choice = await rechooseVendor(flow, client, await openVendorSecret(flowId, flow, deps), deps);
  if (choice.contextHash === flow.contextHash) return choice;
  throw new OAuthError("temporarily_unavailable", "The vendor's configuration changed: start again", {
    reason: "context_changed",
    retry: "restart",
  });
}

export function refuseToClient(error: OAuthError, to: ClientReturn, trace: Trace): Answer {
  trace.failure = error;
  return errorRedirect(error, to);
}

/** Back and reload in the browser that started may repeat the redirect; everyone else finds the request_uri spent. */
//= rfc9126#2.2
async function startOnce(
  handle: Handle,
  clientId: string,
  cookie: BindingCookie,
  { records, keyset, now }: Pick<Deps, "records" | "keyset" | "now">,
  trace: Trace,
): Promise<StoredRecord> {
  const at = now();
  const set: Partial<Flow> = { kid: keyset.active("flow").kid, cookieHash: cookie.hash, startedAt: at };
  const advanced = await records.advance(
    flowKey(handle.flowId),
    { stage: "pushed", expect: { requestHash: handle.hash, clientId } },
    { stage: "started", set: asData(set), expiresAt: at + FLOW_SECONDS },
  );
  if (advanced.outcome === "moved") return advanced.record;
  if (advanced.outcome === "absent") throw refusePage(trace, "request_uri_unknown");
  requireUnusedOrSameBrowser(advanced.record, cookie, trace);
  return advanced.record;
}

function requireUnusedOrSameBrowser(record: StoredRecord, cookie: BindingCookie | undefined, trace: Trace): void {
  const isSameBrowser = record.stage === "started" && isSameText(asFlow(record).cookieHash, cookie?.hash);
  if (record.stage !== "pushed" && !isSameBrowser) throw refusePage(trace, "request_uri_used");
}

async function vendorUrl(
  record: StoredRecord,
  { vendor, credentials, redirectUri, contextHash, vendorClient }: VendorChoice,
  { keyset, state }: Pick<Deps, "keyset" | "state">,
): Promise<string> {
  const flow = asFlow(record);
  const key = await keyset.find("flow", flow.kid ?? "");
  if (key === undefined) throw new OAuthError("temporarily_unavailable", "The keys are not loaded yet");
  const { codeChallenge, nonce } = flowSecrets(key, record.key.id, vendor, flow.scope);
  return vendorClient.authorizationUrl(vendor, {
    clientId: credentials.clientId,
    redirectUri,
    state: state.sign({
      jti: record.key.id,
      contextHash,
      issuedAt: flow.startedAt ?? 0,
      expiresAt: record.expiresAt,
    }),
    scope: flow.scope,
    ...(codeChallenge === undefined ? {} : { codeChallenge }),
    ...(nonce === undefined ? {} : { nonce }),
    ...(flow.loginHint === undefined ? {} : { loginHint: flow.loginHint }),
    ...(flow.prompt === undefined ? {} : { prompt: flow.prompt }),
    ...(flow.resource === undefined ? {} : { resource: flow.resource }),
    ...(flow.vendorParams === undefined ? {} : { extra: flow.vendorParams }),
  });
}
