/**
 * Dynamic client registration (RFC 7591), open to every caller: a client is bound to the
 * authentication method it names here.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { isRedirectUri, type AuthMethod } from "./clients.ts";
import type { VendorHost } from "./host.ts";
import { json, parseObject } from "./members.ts";
import type { SimulatedClient } from "./simulator.ts";

export const AUTH_METHODS: readonly AuthMethod[] = ["client_secret_basic", "client_secret_post", "none"];
export const GRANT_TYPES: readonly string[] = ["authorization_code", "refresh_token"];

export interface RegisteredClient extends SimulatedClient {
  /** The only one it may use. */
  readonly tokenEndpointAuthMethod?: AuthMethod;
}

export interface RegistrationRules {
  /** For a client that names none. */
  readonly method: AuthMethod;
  readonly grantTypes: readonly string[];
  readonly refuse: (error: string, description?: string) => Response;
  readonly secretPrefix?: string;
}

/** Serves registration at this path. */
export function serveRegistration(
  { app, clients, now, takeRefusal }: VendorHost<RegisteredClient>,
  path: string,
  { method: usual, grantTypes: usualGrants, refuse, secretPrefix = "" }: RegistrationRules,
): void {
  app.post(path, async (c) => {
    const forced = takeRefusal("registration");
    if (forced !== undefined) return refuse(forced);
    const asked = parseObject(await c.req.text());
    if (asked === undefined) return refuse("invalid_client_metadata", "The body is not a JSON object");
    const redirectUris = asked["redirect_uris"];
    if (!isList(redirectUris) || redirectUris.length === 0 || !redirectUris.every(isRedirectUri)) {
      return refuse("invalid_redirect_uri", "redirect_uris must be https or loopback addresses without fragment");
    }
    const method = AUTH_METHODS.find((one) => one === (asked["token_endpoint_auth_method"] ?? usual));
    const grantTypes = asked["grant_types"] ?? usualGrants;
    const responseTypes = asked["response_types"] ?? ["code"];
    if (method === undefined) return refuse("invalid_client_metadata", "token_endpoint_auth_method");
    if (!isList(grantTypes) || !grantTypes.every((type) => GRANT_TYPES.includes(type))) {
      return refuse("invalid_client_metadata", "grant_types");
    }
    if (!isList(responseTypes) || responseTypes.join() !== "code") {
      return refuse("invalid_client_metadata", "response_types");
    }
    const name = typeof asked["client_name"] === "string" ? asked["client_name"] : undefined;
    const clientId = randomUUID();
    const hasSecret = method !== "none";
    const secret = hasSecret ? { clientSecret: secretPrefix + randomBytes(24).toString("base64url") } : {};
    clients.set(clientId, {
      clientId,
      redirectUris,
      tokenEndpointAuthMethod: method,
      ...secret,
      ...(name === undefined ? {} : { name }),
    });
    const answer = {
      client_id: clientId,
      client_id_issued_at: now(),
      client_secret: secret.clientSecret,
      client_secret_expires_at: hasSecret ? 0 : undefined,
      client_name: name,
      redirect_uris: redirectUris,
      token_endpoint_auth_method: method,
      grant_types: grantTypes,
      response_types: responseTypes,
    };
    return json(answer, 201);
  });
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}
