/**
 * Leg 4, POST /v1/token with grant_type=authorization_code: what the broker adds to the tokens that
 * the engine redeems the client's code for (brokered-code/redeem.ts, with every check of the code).
 * Nothing is kept. The client is authenticated.
 */
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import type { Trace } from "@oauth-broker/service/http";
import type { ClientConfig } from "../config.ts";
import { accountOf } from "../grants/account.ts";
import type { LegDeps } from "./policy.ts";
import { firstAnswer, type TokenAnswer } from "../grants/token-answer.ts";

/** @throws OAuthError invalid_grant, invalid_request; otherwise the vendor's answer, translated */
export async function redeemBrokerCode(
  parameters: Parameters,
  client: ClientConfig,
  deps: LegDeps,
  trace: Trace,
): Promise<TokenAnswer> {
  // 1. the vendor's tokens, once
  const redeemed = await deps.flows.redeem(parameters, client.clientId, trace);
  // 2. whose they are, if that can be known
  const account = await accountOf(redeemed.tokens, redeemed.vendor, deps, trace);
  // 3. with what names their origin
  const answer = firstAnswer(redeemed, account, client, deps, trace);
  // 4. before they leave
  await deps.audit.record("tokens_issued", trace);
  return answer;
}
