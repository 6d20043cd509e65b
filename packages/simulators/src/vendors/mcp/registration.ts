/**
 * Dynamic client registration (RFC 7591), open to every caller: a client is bound to the
 * authentication method it names here.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { json } from "../base/members.ts";
import { oauthError } from "./oauth-errors.ts";
import { AUTH_METHODS, type AuthMethod, type McpState } from "./rules.ts";

const GRANT_TYPES: readonly unknown[] = ["authorization_code", "refresh_token"];

/**
 * Serves `POST /register`.
 *
 * @returns the ids it issues, as they are added
 */
export function serveRegistration(state: McpState): readonly string[] {
  const registered: string[] = [];
  state.app.post("/register", async (c) => {
    const forced = state.takeRefusal("registration");
    if (forced !== undefined) return oauthError(forced);
    const asked = parseObject(await c.req.text());
    if (asked === undefined) return oauthError("invalid_client_metadata", "The body is not a JSON object");
    const redirectUris = asked["redirect_uris"];
    if (!isList(redirectUris) || redirectUris.length === 0 || !redirectUris.every(isRedirectUri)) {
      return oauthError("invalid_redirect_uri", "redirect_uris must be https or loopback addresses without fragment");
    }
    const method = asked["token_endpoint_auth_method"] ?? "client_secret_basic";
    const grantTypes = asked["grant_types"] ?? ["authorization_code"];
    const responseTypes = asked["response_types"] ?? ["code"];
    if (!isMethod(method)) return oauthError("invalid_client_metadata", "token_endpoint_auth_method");
    if (!isList(grantTypes) || !grantTypes.every((type) => GRANT_TYPES.includes(type))) {
      return oauthError("invalid_client_metadata", "grant_types");
    }
    if (!isList(responseTypes) || responseTypes.join() !== "code") {
      return oauthError("invalid_client_metadata", "response_types");
    }
    const name = typeof asked["client_name"] === "string" ? asked["client_name"] : undefined;
    const clientId = randomUUID();
    const clientSecret = method === "none" ? undefined : randomBytes(24).toString("base64url");
    state.clients.add({
      clientId,
      redirectUris,
      tokenEndpointAuthMethod: method,
      ...(clientSecret === undefined ? {} : { clientSecret }),
      ...(name === undefined ? {} : { name }),
    });
    registered.push(clientId);
    const secret = clientSecret === undefined ? {} : { client_secret: clientSecret, client_secret_expires_at: 0 };
    const answer = {
      client_id: clientId,
      client_id_issued_at: state.now(),
      ...secret,
      ...(name === undefined ? {} : { client_name: name }),
      redirect_uris: redirectUris,
      token_endpoint_auth_method: method,
      grant_types: grantTypes,
      response_types: responseTypes,
    };
    return json(answer, 201);
  });
  return registered;
}

/** https, or http on this machine; never a fragment. */
export function isRedirectUri(value: unknown): value is string {
  if (typeof value !== "string" || !URL.canParse(value) || value.includes("#")) return false;
  const { protocol, hostname } = new URL(value);
  const isLoopback = hostname === "127.0.0.1" || hostname === "[::1]" || hostname === "localhost";
  return protocol === "https:" || (protocol === "http:" && isLoopback);
}

export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function isMethod(value: unknown): value is AuthMethod {
  return (AUTH_METHODS as readonly unknown[]).includes(value);
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}
