/**
 * Revocation at vendors that do it their own way: another method, another place for the token. What is their own way is
 * data of the entry (`revocation`); called by revoke-tokens.ts.
 */
import type { RevocationDialect } from "../../vendors/dialect.ts";
import type { VendorCredentials } from "../../vendors/vendor.ts";
import { basicCredentials, type VendorClientDeps } from "../binding.ts";

export interface DialectRequest {
  readonly dialect: RevocationDialect;
  readonly endpoint: string;
  readonly credentials: VendorCredentials;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** @returns the vendor's answer, unread */
export async function requestByDialect(
  { dialect, endpoint, credentials, token, signal }: DialectRequest,
  { fetch }: Pick<VendorClientDeps, "fetch">,
): Promise<Response> {
  const content = body(dialect, token);
  return fetch(address(dialect, endpoint.replace("{client_id}", encodeURIComponent(credentials.clientId)), token), {
    method: dialect.method,
    headers: {
      accept: "application/json",
      "user-agent": "oauth-broker",
      ...content.headers,
      ...authorization(dialect, credentials, token),
    },
    redirect: "manual",
    signal,
    ...(content.body === undefined ? {} : { body: content.body }),
  });
}

function address({ body: kind, tokenParameter }: RevocationDialect, endpoint: string, token: string): string {
  if (kind !== "query") return endpoint;
  const separator = endpoint.includes("?") ? "&" : "?";
  return `${endpoint}${separator}${new URLSearchParams({ [tokenParameter]: token }).toString()}`;
}

function body(
  { body: kind, tokenParameter }: RevocationDialect,
  token: string,
): { headers: Record<string, string>; body?: string } {
  if (kind === "none" || kind === "query") return { headers: {} };
  if (kind === "json")
    return { headers: { "content-type": "application/json" }, body: JSON.stringify({ [tokenParameter]: token }) };
  return {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ [tokenParameter]: token }).toString(),
  };
}

function authorization(
  { authentication }: RevocationDialect,
  credentials: VendorCredentials,
  token: string,
): Record<string, string> {
  if (authentication === "none") return {};
  const { clientId, clientSecret } = credentials;
  return {
    authorization:
      authentication === "bearer" ? `Bearer ${token}` : basicCredentials(clientId, clientSecret?.reveal() ?? ""),
  };
}
