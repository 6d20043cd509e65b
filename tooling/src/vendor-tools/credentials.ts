/**
 * The operator's own client at a vendor, for one run of `vendor try`: from the variables that the
 * broker reads too, entered at a terminal, or registered for this run. Never an argument, which
 * other users of the machine could read.
 */
import { type JsonObject, parseJsonStrict, Secret } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import type { TokenEndpointAuthMethod, Vendor, VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { Environment } from "./environment.ts";
import { explain, refusal, WRONG } from "./refusal.ts";

export interface OwnClient {
  readonly credentials: VendorCredentials;
  /** `none` for a public client, even if the entry names a method. */
  readonly method: TokenEndpointAuthMethod;
}

/** @throws Refusal naming every variable that is missing when no terminal can be asked */
export function requireSource({ id, tokenEndpointAuthMethod }: Vendor, { env, ask }: Environment): void {
  const names = variables(id);
  const wanted = tokenEndpointAuthMethod === "none" ? [names.id] : [names.id, names.secret];
  const missing = wanted.filter((name) => given(env[name]) === undefined);
  if (missing.length > 0 && ask === undefined) {
    throw refusal(
      `There is no terminal for input, and ${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} not set`,
    );
  }
}

export async function ownClient(vendor: Vendor, { env, ask }: Environment): Promise<OwnClient> {
  const names = variables(vendor.id);
  const clientId = given(env[names.id]) ?? (await ask?.({ text: `${vendor.name}: client id`, isSecret: false }));
  if (clientId === undefined || clientId === "") throw refusal("No client id was entered");
  const isPublic = vendor.tokenEndpointAuthMethod === "none";
  const text = `${vendor.name}: client secret (not shown; empty for a public client)`;
  const secret = isPublic ? undefined : (given(env[names.secret]) ?? (await ask?.({ text, isSecret: true })));
  return clientOf(clientId, given(secret), vendor.tokenEndpointAuthMethod);
}

/**
 * A client made by dynamic registration, for this run alone.
 * @throws Refusal when the vendor registers none
 */
export async function registeredClient(
  vendor: Vendor,
  redirectUri: string,
  vendorClient: VendorClient,
): Promise<OwnClient> {
  const answer = await vendorClient.registerClient(vendor, { redirectUri }).catch((error: unknown) => {
    throw refusal(`${vendor.id} registers no client: ${explain(error)}`, WRONG);
  });
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: method } = members(answer.body);
  if (answer.status !== 201 || typeof clientId !== "string") {
    throw refusal(`${vendor.id} registers no client: it answers ${answer.status}`, WRONG);
  }
  const registered = method === "client_secret_post" || method === "none" ? method : vendor.tokenEndpointAuthMethod;
  return clientOf(clientId, typeof secret === "string" ? secret : undefined, registered);
}

function members(body: Uint8Array): JsonObject {
  try {
    const value = parseJsonStrict(Buffer.from(body).toString());
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

function clientOf(clientId: string, secret: string | undefined, method: TokenEndpointAuthMethod): OwnClient {
  const own = { id: "environment", source: "environment", clientId } as const;
  return secret === undefined
    ? { credentials: own, method: "none" }
    : { credentials: { ...own, clientSecret: new Secret(secret) }, method };
}

function variables(id: string): Readonly<Record<"id" | "secret", string>> {
  const prefix = `VENDOR_${id.toUpperCase().replaceAll("-", "_")}`;
  return { id: `${prefix}_CLIENT_ID`, secret: `${prefix}_CLIENT_SECRET` };
}

function given(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}
