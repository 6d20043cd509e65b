/**
 * POST /register: a client of the caller's own at a vendor, by dynamic client registration. One hop; the vendor's answer is the
 * caller's, and nothing of it stays here. Before it: routes/register.ts. After it: the caller brings the credentials (BYOC).
 */
import { noRegistration, type RegistrationAnswer } from "@oauth-broker/oauth-core";
import type { ClientConfig } from "../config.ts";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { Deps } from "../deps.ts";
import { readRegisterRequest } from "./register-request.ts";
import { configuredToken } from "./register-token.ts";
import { requireUsableVendor } from "./vendor-choice.ts";

/**
 * The client is authenticated and under its rate limit.
 *
 * @param text the body as received
 * @throws OAuthError invalid_request, unauthorized_client, vendor_response_invalid, temporarily_unavailable
 */
export async function register(
  text: string,
  client: ClientConfig,
  deps: Pick<Deps, "vendors" | "vendorClient" | "issuer">,
  trace: Trace,
): Promise<RegistrationAnswer> {
  const request = readRegisterRequest(text); //                                      1  a vendor and perhaps a token, nothing else
  const entry = requireUsableVendor(request.vendor, client, deps); //                2  may this client use it
  trace.vendor = entry.vendor.id;
  if (entry.registersNobody === true) throw noRegistration(entry.vendor); //         nobody is asked what is known
  const token = request.initialAccessToken ?? configuredToken(client, entry); //     3  the caller's, the owner's, the vendor's
  const answer = await deps.vendorClient.registerClient(entry.vendor, {
    redirectUri: `${deps.issuer}/v1/callback`, //                                    4  one hop, for our callback and no other
    ...(token === undefined ? {} : { initialAccessToken: token }),
  });
  if (answer.status >= 400) trace.reason = "vendor_refused"; //                      5  told in log and counters; the body is not read
  return answer;
}
