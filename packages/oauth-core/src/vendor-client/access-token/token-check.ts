/**
 * A vendor's own check of an access token, if it differs from the standard's
 * (`Vendor.tokenCheck`).
 */
import { defined } from "../../mechanics/defined.ts";
import type { JsonObject } from "../../ports.ts";
import type { TokenCheck } from "../../registry/account.ts";
import type { ResolvedVendor, VendorCredentials } from "../../registry/vendor.ts";
import { memberAt } from "../member-path.ts";
import { basicCredentials } from "../authentication.ts";
import { knownScope, pointInTime } from "../token/response.ts";
import { NO_INFORMATION, type TokenInformation } from "./introspect.ts";
import { readObject, requireAnswer } from "../answer.ts";
import type { VendorClientDeps } from "../binding.ts";
import { type OwnRequest, ownRequest } from "../own-request.ts";
import { invalidVendorResponse, translateVendorError, type VendorCall, vendorRefusedClient } from "../errors.ts";

/** @returns undefined if the vendor has no own check, or it needs a secret that is missing */
export function usableCheck(
  { tokenCheck }: Pick<ResolvedVendor, "tokenCheck">,
  credentials: VendorCredentials | undefined,
): TokenCheck | undefined {
  const needsSecret = tokenCheck?.authentication === "basic";
  return needsSecret && credentials?.clientSecret === undefined ? undefined : tokenCheck;
}

/**
 * @returns undefined for a token that is not valid
 * @throws OAuthError temporarily_unavailable, vendor_response_invalid, vendor_credentials_rejected
 */
export async function checkToken(
  check: TokenCheck,
  vendor: Pick<ResolvedVendor, "scopeSeparator">,
  credentials: VendorCredentials | undefined,
  accessToken: string,
  { fetch, now }: Pick<VendorClientDeps, "fetch" | "now">,
  signal: AbortSignal,
): Promise<TokenInformation | undefined> {
  const call: VendorCall = {
    what: "token check",
    spends: false,
    ...defined({ credentialsSource: credentials?.source }),
  };
  try {
    const { url, ...sent } = request(check, accessToken, credentials);
    const response = await fetch(url, { ...sent, signal });
    requireAnswer(response, call, now);
    if (check.inactiveStatuses.includes(response.status)) return undefined;
    if (response.status === 401 && check.authentication === "basic") throw vendorRefusedClient(call);
    if (response.status !== 200) throw invalidVendorResponse(`token check: status ${response.status}`);
    return information(await readObject(response, call), check, vendor);
  } catch (error) {
    throw translateVendorError(error, call);
  }
}

function request(
  { endpoint, method, authentication, tokenParameter }: TokenCheck,
  accessToken: string,
  credentials: VendorCredentials | undefined,
): OwnRequest & { readonly url: string } {
  const { clientId = "", clientSecret } = credentials ?? {};
  const authorization =
    authentication === "bearer" ? `Bearer ${accessToken}` : basicCredentials(clientId, clientSecret?.reveal() ?? "");
  const json = tokenParameter === undefined ? undefined : { [tokenParameter]: accessToken };
  const url = endpoint.replace("{client_id}", encodeURIComponent(clientId));
  return { url, ...ownRequest(method, { authorization }, { json }) };
}

function information(
  answer: JsonObject,
  { client, identity, scope, expiry }: TokenCheck,
  { scopeSeparator }: Pick<ResolvedVendor, "scopeSeparator">,
): TokenInformation {
  const named = client.map((path) => memberAt(answer, path)).filter((value) => value !== undefined);
  const clients = named.filter((value) => typeof value === "string");
  if (clients.length === 0 || clients.length < named.length) throw invalidVendorResponse("token check: no client");
  const expiresAt = expiry === undefined ? undefined : pointInTime(memberAt(answer, expiry.member), expiry.unit);
  return {
    ...NO_INFORMATION,
    answer,
    identity,
    clients,
    scope: scope === undefined ? undefined : knownScope(memberAt(answer, scope), scopeSeparator),
    expiresAt: expiresAt === undefined ? undefined : Math.floor(expiresAt),
  };
}
