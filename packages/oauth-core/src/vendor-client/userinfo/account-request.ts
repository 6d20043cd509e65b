/** The request for an entry's own account: its URL, and the place of the access token in it. */
import type { JsonObject } from "../../ports.ts";
import type { AccountEndpoint } from "../../registry/account.ts";
import { invalidVendorResponse } from "../errors.ts";
import { memberAt } from "../member-path.ts";
import { type OwnRequest, ownRequest } from "../own-request.ts";

/**
 * The token is in one place: no second one, whose form another reader of the request may keep.
 *
 * @param tokenResponse what the access token came with
 * @throws OAuthError vendor_response_invalid when its host is not the vendor's
 */
//= rfc6750#2
export function accountRequest(
  account: AccountEndpoint,
  accessToken: string,
  tokenResponse: JsonObject = {},
): OwnRequest & { readonly url: string } {
  const { endpoint, method, host, headers, token = { in: "header", scheme: "Bearer" }, body, form } = account;
  const at = host === undefined ? endpoint : atHost(endpoint, host, tokenResponse);
  const inForm = token.in === "form" ? { ...form, [token.name]: accessToken } : form;
  const sent = ownRequest(method, headers, { json: body, form: inForm });
  if (token.in === "header") {
    const { name = "authorization", scheme } = token;
    const value = scheme === undefined ? accessToken : `${scheme} ${accessToken}`;
    return { ...sent, url: at, headers: { ...sent.headers, [name]: value } };
  }
  if (token.in === "form") return { ...sent, url: at };
  const encoded = encodeURIComponent(accessToken);
  if (token.in === "path") return { ...sent, url: at.replace("{access_token}", encoded) };
  return { ...sent, url: `${at}${at.includes("?") ? "&" : "?"}${encodeURIComponent(token.name)}=${encoded}` };
}

/** A token response chooses among the vendor's own hosts alone: the access token is sent there. */
function atHost(
  endpoint: string,
  { member, below }: NonNullable<AccountEndpoint["host"]>,
  tokenResponse: JsonObject,
): string {
  const named = memberAt(tokenResponse, member);
  const written = typeof named !== "string" ? "" : named.includes("://") ? named : `https://${named}`;
  const { protocol, host } = URL.canParse(written) ? new URL(written) : { protocol: "", host: "" };
  if (protocol !== "https:" || !host.endsWith(`.${below}`))
    throw invalidVendorResponse(`account: ${member} of the token response is no host below ${below}`);
  const url = new URL(endpoint);
  url.host = host;
  return url.href;
}
