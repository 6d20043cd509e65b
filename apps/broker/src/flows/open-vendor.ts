/**
 * Leg 2, GET /v1/authorize: the user's browser arrives with the request_uri and leaves for the vendor.
 * Before it: push-request.ts. After it: the vendor sends the browser to finish-callback.ts.
 */
import {
  OAuthError,
  type Parameters,
  parseRequestUri,
  type StoredRecord,
  toOAuthError,
  verifyRedirectUri,
} from "@oauth-broker/oauth-core";
import { type Answer, errorRedirect, redirectAnswer } from "@oauth-broker/oauth-core/hono";
import type { Deps, Trace } from "../deps.ts";
import { type BindingCookie, createBindingCookie, readBindingCookie, setBindingCookie } from "./browser-binding.ts";
import { asData, asFlow, type Flow, FLOW_SECONDS, flowKey } from "./flow-record.ts";
import { flowSecrets } from "./flow-secrets.ts";
import { refusePage } from "./refusal.ts";
import { rechooseVendor } from "./vendor-choice.ts";

/** @throws OAuthError for the 400 page until client and request_uri are known; afterwards failures are redirects */
export async function openVendor(
  parameters: Parameters,
  cookieHeader: string | undefined,
  deps: Deps,
  trace: Trace,
): Promise<Answer> {
  const clientId = parameters.require("client_id");
  const handle = parseRequestUri(parameters.require("request_uri"));
  if (handle === undefined) throw refusePage(trace, "request_uri_unknown");
  trace.flowId = handle.flowId;
  trace.clientId = clientId;

  const held = readBindingCookie(cookieHeader, deps.issuer, handle.flowId);
  const cookie = held ?? createBindingCookie();
  const record = await startOnce(handle, clientId, cookie, deps, trace); //   1  single use, or the same browser's reload
  const flow = asFlow(record);
  trace.vendor = flow.vendor;
  const client = await deps.clients.find(clientId);
  if (client === undefined) throw refusePage(trace, "client_unknown");
  const redirect = verifyRedirectUri(flow.redirectUri, client.redirectUris); // 2  from here failures go to the client
  try {
    const url = await vendorUrl(record, flow, deps); //                       3  context as pushed; PKCE #2, nonce, state
    return redirectAnswer(url, setBindingCookie(deps.issuer, handle.flowId, cookie.value)); // 4
  } catch (error) {
    return errorRedirect(toOAuthError(error), {
      redirect,
      state: flow.state,
      issuer: deps.issuer,
      flowId: handle.flowId,
    });
  }
}

/** Back and reload in the browser that started may repeat the redirect; everyone else finds the request_uri spent. */
//= rfc9126#2.2
async function startOnce(
  handle: { flowId: string; hash: string },
  clientId: string,
  cookie: BindingCookie,
  { records, keyset, now }: Pick<Deps, "records" | "keyset" | "now">,
  trace: Trace,
): Promise<StoredRecord> {
  const at = now();
  const set: Partial<Flow> = {
    kid: keyset.active("flow").kid,
    cookieHash: cookie.hash,
    startedAt: at,
  };
  const advanced = await records.advance(
    flowKey(handle.flowId),
    { stage: "pushed", expect: { requestHash: handle.hash, clientId } },
    { stage: "started", set: asData(set), expiresAt: at + FLOW_SECONDS },
  );
  if (advanced.outcome === "moved") return advanced.record;
  if (advanced.outcome === "absent") throw refusePage(trace, "request_uri_unknown");
  const isSameBrowser = advanced.record.stage === "started" && asFlow(advanced.record).cookieHash === cookie.hash;
  if (!isSameBrowser) throw refusePage(trace, "request_uri_used");
  return advanced.record;
}

async function vendorUrl(record: StoredRecord, flow: Flow, deps: Deps): Promise<string> {
  const client = await deps.clients.find(flow.clientId);
  const key = await deps.keyset.find("flow", flow.kid ?? "");
  if (client === undefined || key === undefined) throw contextChanged("client or key");
  const { vendor, credentials, redirectUri, contextHash } = await rechooseVendor(flow, client, deps);
  //= bar#XA-5
  if (contextHash !== flow.contextHash) throw contextChanged("endpoints or credentials");
  const { codeChallenge, nonce } = flowSecrets(key, record.key.id, vendor, flow.scope);
  return deps.vendorClient.authorizationUrl(vendor, {
    clientId: credentials.clientId,
    redirectUri,
    state: deps.state.sign({
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

function contextChanged(what: string): OAuthError {
  return new OAuthError("temporarily_unavailable", "The vendor's configuration changed: start again", {
    reason: "context_changed",
    retry: "restart",
    detail: what,
  });
}
