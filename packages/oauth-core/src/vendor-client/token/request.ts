/**
 * The token request (RFC 6749 §3.2): one POST of a form with client authentication. oauth4webapi's
 * request functions put the same form together from several objects of the web and take them apart
 * again, which costs a sixth of the call. The library still authenticates the client, and checks
 * the answer (validate.ts).
 */
import { defined } from "../../mechanics/defined.ts";
import type { ResolvedVendor, VendorCredentials } from "../../registry/vendor.ts";
import type { Bindings } from "../binding.ts";
import { isWrongAnswer, translateVendorError, type VendorCall } from "../errors.ts";
import { readTokenAnswer, type SeenTokens, type TokenAnswer } from "./response.ts";
import type { TokenDeps } from "./validate-response.ts";

/**
 * One token request: what it is for, how long it may take, and the callback for an answer that is
 * refused.
 */
export interface Asking {
  readonly call: VendorCall;
  readonly leg: "code" | "refresh";
  readonly signal: AbortSignal;
  /** The vendor may have issued tokens in an answer that cannot be read: those that it shows. */
  readonly onRefused: (seen: SeenTokens) => void;
}

/**
 * @returns the answer, normalised; nothing in it is verified
 * @throws OAuthError as readTokenAnswer; temporarily_unavailable if no answer came
 */
export async function askForTokens(
  parameters: Readonly<Record<string, string>>,
  vendor: ResolvedVendor,
  credentials: VendorCredentials,
  { call, leg, signal, onRefused }: Asking,
  { bindings, now, onLesserAnswer }: Pick<TokenDeps, "bindings" | "now" | "onLesserAnswer">,
): Promise<TokenAnswer> {
  try {
    const response = await requestToken(parameters, vendor, credentials, { leg, signal }, bindings);
    return await readTokenAnswer(response, vendor, call, { now, onRefused, ...defined({ onLesserAnswer }) });
  } catch (error) {
    if (isWrongAnswer(error)) onRefused({});
    throw translateVendorError(error, call);
  }
}

/**
 * @param parameters of the grant, none of them empty
 * @param at where and for how long: the vendor's refresh endpoint may be another one
 * @throws OAuthError vendor_response_invalid unless the endpoint is https, or http on loopback
 *   if that is permitted; EgressError
 */
async function requestToken(
  parameters: Readonly<Record<string, string>>,
  vendor: ResolvedVendor,
  credentials: VendorCredentials,
  at: { readonly leg: "code" | "refresh"; readonly signal: AbortSignal },
  { ofVendor, ofCredentials }: Bindings,
): Promise<Response> {
  if (Object.values(parameters).includes("")) throw new TypeError("a parameter of a token request is empty");
  const { server, refreshServer, postForm } = ofVendor(vendor);
  const { client, authenticate } = ofCredentials(credentials);
  const asked = at.leg === "code" ? server : refreshServer;
  const form = new URLSearchParams(parameters);
  const headers = new Headers();
  await authenticate(vendor)(asked, client, form, headers);
  const endpoint = asked.token_endpoint ?? vendor.tokenEndpoint;
  return postForm(endpoint, form, { authorization: headers.get("authorization"), signal: at.signal });
}
