/**
 * Leg 2, GET /v1/authorize: the user's browser arrives with the request_uri and leaves for the vendor.
 * Before it: push-request.ts. After it: the vendor sends the browser to finish-callback.ts.
 */
import {
  type Handle,
  OAuthError,
  type Parameters,
  parseRequestUri,
  type StoredRecord,
  toOAuthError,
  verifyRedirectUri,
} from "@oauth-broker/oauth-core";
import { type Answer, type ClientReturn, errorRedirect, redirectAnswer } from "@oauth-broker/oauth-core/hono";
import type { ClientConfig } from "../config.ts";
import type { Deps, Trace } from "../deps.ts";
import { type BindingCookie, createBindingCookie, readBindingCookie, setBindingCookie } from "./browser-binding.ts";
import { asData, asFlow, type Flow, FLOW_SECONDS, flowKey } from "./flow-record.ts";
import { flowSecrets } from "./flow-secrets.ts";
import { refusePage } from "./refusal.ts";
import { rechooseVendor, type VendorChoice } from "./vendor-choice.ts";
import { openVendorSecret } from "./vendor-secret.ts";

/** @throws OAuthError for the 400 page until client and request_uri are known; afterwards failures are redirects */
export async function openVendor(
  parameters: Parameters,
  cookieHeader: string | undefined,
  deps: Deps,
  trace: Trace,
): Promise<Answer> {
  const handle = readHandle(parameters, trace);
  const cookie = readBindingCookie(cookieHeader, deps.issuer, handle.flowId) ?? createBindingCookie();
  // 1  unused and this client's, or a reload in this very browser
  const flow = await findFlow(handle, parameters.require("client_id"), cookie, deps, trace);
  const client = await requireClient(flow, deps, trace);
  // 2  from here failures go to the client
  const redirect = verifyRedirectUri(flow.redirectUri, client.redirectUris);
  const to = { redirect, state: flow.state, issuer: deps.issuer, flowId: handle.flowId };
  // 3  vendor, endpoints and credentials as pushed; nothing is spent yet
  const choice = await sameContext(handle.flowId, flow, client, deps).catch((error: unknown) => toOAuthError(error));
  if (choice instanceof OAuthError) return refuseToClient(choice, to, trace);
  // 4  single use
  const record = await startOnce(handle, flow.clientId, cookie, deps, trace);
  // 5  PKCE #2, nonce, state
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
  cookie: BindingCookie,
  { records, now }: Pick<Deps, "records" | "now">,
  trace: Trace,
): Promise<Flow> {
  const record = await records.get(flowKey(handle.flowId), { includeExpired: true });
  const flow = record === undefined ? undefined : asFlow(record);
  if (record === undefined || flow === undefined || flow.requestHash !== handle.hash || flow.clientId !== clientId) {
    throw refusePage(trace, "request_uri_unknown");
  }
  trace.clientId = flow.clientId;
  trace.vendor = flow.vendor;
  trace.credentialsId = flow.credentialsId;
  if (record.expiresAt <= now()) throw refusePage(trace, "request_uri_unknown");
  requireUnusedOrSameBrowser(record, cookie, trace);
  return flow;
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

function refuseToClient(error: OAuthError, to: ClientReturn, trace: Trace): Answer {
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

function requireUnusedOrSameBrowser(record: StoredRecord, cookie: BindingCookie, trace: Trace): void {
  const isSameBrowser = record.stage === "started" && asFlow(record).cookieHash === cookie.hash;
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
