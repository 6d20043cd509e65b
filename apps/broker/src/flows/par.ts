/**
 * Leg 1, POST /v1/par: the platform's backend pushes the authorization request; no browser is
 * involved yet. After it: the browser sends the request_uri to authorize.ts.
 */
import { defined } from "@oauth-broker/oauth-core";
import { requireMetDemands } from "@oauth-broker/oauth-core/vendor-client";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import { createFlowId, readPushedRequest } from "@oauth-broker/oauth-core/authorization-server";
import type { Trace } from "@oauth-broker/service/http";
import type { ClientConfig } from "../config.ts";
import { chooseVendor } from "../vendor-choice/choose.ts";
import { parametersFor, readVendorRequest } from "../vendor-choice/request.ts";
import { requireBrowserBinding } from "../vendor-choice/registrations.ts";
import { sealVendorSecret, TIMELINE_SECONDS } from "./flow-record.ts";
import type { LegDeps } from "./policy.ts";

/** The client is authenticated and under its rate limit. @throws OAuthError with a JSON status */
export async function pushRequest(
  parameters: Parameters,
  client: ClientConfig,
  deps: LegDeps,
  trace: Trace,
): Promise<{ request_uri: string; expires_in: number }> {
  // 1. redirect URI, PKCE #1, response type; all that is said of the vendor
  const request = readPushedRequest(parameters, client);
  const ofVendor = readVendorRequest(parameters);
  // 2. may this client use it; endpoints; credentials
  const choice = await chooseVendor(ofVendor, client, deps);
  requireBrowserBinding(choice, client, deps.registrations);
  // 3. scope and further parameters
  const asked = parametersFor(choice.vendor, ofVendor.asked);
  requireMetDemands(choice.vendor, choice.credentials, asked.scope);
  // 4. without keys no browser could leave: refuse now
  deps.keyset.active("state");
  // 5. one record from here to the end
  const flowId = createFlowId(deps.cell);
  const { credentials } = choice;
  trace.flowId = flowId;
  trace.vendor = choice.vendor.id;
  trace.credentialsId = credentials.id;
  const vendorSecret = sealVendorSecret(flowId, credentials, deps);
  const at = deps.now();
  const { requestUri, lifetimeSeconds } = await deps.flows.push(
    flowId,
    {
      v: 1,
      purpose: "client",
      path: choice.callbackPath,
      clientId: client.clientId,
      ...choice.target,
      credentialsId: credentials.id,
      credentialsSource: credentials.source,
      ...(credentials.source === "byoc" ? { vendorClientId: credentials.clientId } : {}),
      ...defined({ vendorSecret, state: request.state }),
      redirectUri: request.redirect.uri,
      codeChallenge: request.codeChallenge,
      ...asked,
      issExpected: choice.vendor.issExpected,
      contextHash: choice.contextHash,
      binding: client.browserBinding === "platform" ? "platform" : "browser",
      pushedAt: at,
    },
    at + TIMELINE_SECONDS,
  );
  // 6. before the caller can use it
  await deps.audit.record("flow_started", trace);
  return { request_uri: requestUri, expires_in: lifetimeSeconds };
}
