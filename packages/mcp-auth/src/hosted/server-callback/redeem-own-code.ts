/**
 * Leg 4, POST /token with grant_type=authorization_code: our own code, from the client it was
 * issued to, opens the parked vendor code; the vendor's tokens are stored for the user and the
 * client gets our tokens. The client is authenticated.
 */
import { defined } from "@oauth-broker/oauth-core";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import type { Trace } from "@oauth-broker/service/http";
import type { HostedClient } from "../clients/client.ts";
import { openSession } from "../links/link-user.ts";
import { requireOwnResource } from "../../resource/paths.ts";
import type { IssuedTokens } from "../sessions/token-pair.ts";
import type { LegDeps } from "./policy.ts";

/**
 * @throws OAuthError invalid_grant, invalid_request, invalid_target; the translated error of the
 *   vendor
 */
export async function redeemOwnCode(
  parameters: Parameters,
  client: HostedClient,
  deps: LegDeps,
  trace: Trace,
): Promise<IssuedTokens> {
  // 1. wrong: nothing is spent
  requireOwnResource(parameters, deps.settings);
  // 2. the vendor's tokens, once
  const redeemed = await deps.flows.redeem(parameters, client.clientId, trace);
  const { tokens, vendor, flow } = redeemed;
  const { scope: requestedScope, sessionScope: consented, startedAt = 0 } = flow;
  // The first that it can have been.
  const startedAtMilliseconds = flow.startedAtMilliseconds ?? startedAt * 1000;
  const granted = { tokens, vendor: vendor.vendor, requestedScope, startedAtMilliseconds, ...defined({ consented }) };
  // 3. who it is; tokens kept, sealed; a session
  const started = await openSession(granted, client, deps);
  // 4. a second use ends it
  await deps.flows.remember(redeemed, { sessionId: started.session.id });
  return started.tokens;
}
