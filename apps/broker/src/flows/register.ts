/**
 * POST /register: registers the caller's own client at a vendor, by dynamic client
 * registration. The vendor's answer goes to the caller unchanged; the broker stores nothing. Before
 * it: routes/register.ts. After it: the caller uses the credentials (BYOC).
 */
import { defined, type JsonObject, OAuthError, parseJsonObject, Secret } from "@oauth-broker/oauth-core";
import { noRegistration, type RegistrationAnswer } from "@oauth-broker/oauth-core/vendor-client";
import type { ClientConfig } from "../config.ts";
import type { Trace } from "@oauth-broker/service/http";
import type { Deps } from "../deps.ts";
import { CALLBACK_PATH } from "../vendor-choice/callback-path.ts";
import { configuredToken, requireUsableVendor } from "../vendor-choice/entry.ts";

/**
 * The client is authenticated and under its rate limit.
 *
 * @param text the body as received
 * @throws OAuthError invalid_request, unauthorized_client, vendor_response_invalid,
 *   temporarily_unavailable
 */
export async function register(
  text: string,
  client: ClientConfig,
  deps: Pick<Deps, "vendors" | "vendorClient" | "issuer">,
  trace: Trace,
): Promise<RegistrationAnswer> {
  // 1. a vendor and perhaps a token, nothing else
  const request = readRegisterRequest(text);
  // 2. may this client use it
  const entry = requireUsableVendor(request.vendor, client, deps);
  trace.vendor = entry.vendor.id;
  if (entry.registersNoClients === true) throw noRegistration(entry.vendor);
  // 3. the caller's, the owner's, or the vendor's
  const token = request.initialAccessToken ?? configuredToken(client, entry);
  const answer = await deps.vendorClient.registerClient(entry.vendor, {
    // 4. our callback and no other
    redirectUri: `${deps.issuer}${CALLBACK_PATH}`,
    ...defined({ initialAccessToken: token }),
  });
  // 5. logged and counted; the body is not read
  if (answer.status >= 400) trace.reason = "vendor_refused";
  return answer;
}

/** The characters allowed after `Bearer ` in a header. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/**
 * Ignores members beyond these two, like unknown parameters elsewhere; above all `redirect_uris`.
 *
 * @param text the body as received
 * @throws OAuthError invalid_request
 */
//= bar#HT-3
function readRegisterRequest(text: string): { readonly vendor: string; readonly initialAccessToken?: Secret } {
  const body = parseObject(text);
  const vendor = textMember(body, "vendor");
  if (vendor === undefined) throw new OAuthError("invalid_request", "vendor is missing");
  const token = textMember(body, "initial_access_token");
  if (token !== undefined && !TOKEN.test(token)) {
    throw new OAuthError("invalid_request", "initial_access_token must be visible ASCII of at most 4096 characters");
  }
  return { vendor, ...defined({ initialAccessToken: Secret.of(token) }) };
}

function parseObject(text: string): JsonObject {
  try {
    return parseJsonObject(text);
  } catch (cause) {
    throw new OAuthError("invalid_request", "The body must be a JSON object without duplicate names", { cause });
  }
}

/** An empty text counts as absent. */
function textMember(body: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string") throw new OAuthError("invalid_request", `${name} must be a string`);
  return value;
}
