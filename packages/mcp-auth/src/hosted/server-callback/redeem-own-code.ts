/**
 * Leg 4, POST /token with grant_type=authorization_code: our own code, from the client it was given to, with the verifier of its
 * challenge, opens the parked vendor code; the vendor's tokens are kept for the user and the client gets tokens of ours.
 * Before it: finish-callback.ts. The client is known.
 */
import {
  OAuthError,
  parseCodeVerifier,
  type Parameters,
  toOAuthError,
  verifyCodeVerifier,
  withRestart,
} from "@oauth-broker/oauth-core";
import type { Trace } from "@oauth-broker/oauth-core/service";
import { deriveKey, open } from "@oauth-broker/token-store";
import type { HostedClient } from "../clients.ts";
import { identitySource, isSameSource } from "../identity-source.ts";
import { openSession, type Redeemed } from "../open-session.ts";
import { requireOwnResource } from "../requested.ts";
import type { IssuedTokens } from "../session.ts";
import { vendorSecrets } from "../vendor-secrets.ts";
import type { ServerCallbackDeps } from "./deps.ts";
import { claimCode, findCode, type OwnCode, settleCode, unknownCode } from "./own-code.ts";

/** @throws OAuthError invalid_grant, invalid_request, invalid_target; what the vendor's answer is translated to */
export async function redeemOwnCode(
  parameters: Parameters,
  client: HostedClient,
  deps: ServerCallbackDeps,
  trace: Trace,
): Promise<IssuedTokens> {
  const own = await findCode(parameters, deps, trace); //        1  a code of ours
  requireSameRequest(own, parameters, client, deps); //          2  this client's, this redirect URI's: else nothing is spent
  requireVerifier(own, parameters); //                           3  wrong: nothing is spent, the clients are public
  await claimCode(own, deps); //                                 4  of any number of tries one goes on
  const redeemed = await redeem(own, deps); //                   5  the vendor's code, with PKCE #2
  const started = await openSession(redeemed, client, deps); //  6  who it is; tokens kept, sealed; a session
  const { id: sessionId } = started.session;
  await settleCode("spent", own, { sessionId }, deps); //            7  a second use ends it
  return started.tokens;
}

//= bar#AS-6
function requireSameRequest(
  { flow }: OwnCode,
  parameters: Parameters,
  { clientId }: HostedClient,
  { settings }: ServerCallbackDeps,
): void {
  if (flow.clientId !== clientId) throw unknownCode("another client's code");
  if (!isSameSource(flow, identitySource(settings))) throw unknownCode("the code of a vendor of before");
  //= rfc6749#4.1.3
  if (parameters.require("redirect_uri") !== flow.redirectUri) {
    throw new OAuthError("invalid_grant", "redirect_uri differs from that of the authorization request");
  }
  requireOwnResource(parameters, settings);
}

//= bar#AS-3
function requireVerifier({ flow }: OwnCode, parameters: Parameters): void {
  const codeVerifier = parseCodeVerifier(parameters.get("code_verifier"));
  verifyCodeVerifier(codeVerifier, flow.codeChallenge);
}

/**
 * Where no tokens came of it the code is as it was, for as long as it would have lived: it is the vendor who says whether its own
 * still is. A lost answer gave nobody a session, so that a second try can do no harm.
 */
//= bar#VR-5
async function redeem(own: OwnCode, deps: ServerCallbackDeps): Promise<Redeemed> {
  const { vendorClient, settings, callback } = deps;
  const { code, flow } = own;
  try {
    const vendor = await vendorClient.resolve(settings.vendor.vendor);
    const { codeVerifier, nonce } = await vendorSecrets(code.flowId, vendor, deps);
    const tokens = await vendorClient.redeemCode(vendor, settings.vendor.credentials, {
      code: vendorCode(own),
      redirectUri: callback.redirectUri,
      scope: flow.scope,
      ...(codeVerifier === undefined ? {} : { codeVerifier }),
      ...(nonce === undefined ? {} : { nonce }),
    });
    return { tokens, vendor, asked: flow.scope };
  } catch (thrown) {
    const isReleased = await settleCode("parked", own, {}, deps);
    const error = toOAuthError(thrown);
    throw isReleased ? error : withRestart(error);
  }
}

function vendorCode({ code, flow }: OwnCode): string {
  const key = deriveKey(code.value, "vendor-code");
  return open(key, flow.sealedCode ?? "", ["authorization", code.flowId]).toString("utf8");
}
