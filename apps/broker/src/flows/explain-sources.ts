/** For /v1/explain: the values a vendor was resolved to, and where each came from. Called by explain.ts. */
import { defineVendor, REGISTRY, type ResolvedVendor } from "@oauth-broker/oauth-core";
import type { VendorChoice } from "./vendor-choice.ts";

/** `connection`: sealed in it, and once of a request. `default`: of the broker, where nobody said anything. */
export type Source = "request" | "connection" | "configuration" | "environment" | "registry" | "discovery" | "default";

/** Where the caller's own values came in this time. */
export type Manual = "request" | "connection";

const ENDPOINTS = {
  issuer: "issuer",
  authorization_endpoint: "authorizationEndpoint",
  token_endpoint: "tokenEndpoint",
  refresh_endpoint: "refreshEndpoint",
  revocation_endpoint: "revocationEndpoint",
  jwks_uri: "jwksUri",
} as const satisfies Record<string, keyof ResolvedVendor>;

/** What a vendor may be told otherwise than by default. */
const BEHAVIOUR = {
  pkce: "pkce",
  client_authentication: "tokenEndpointAuthMethod",
  token_request_body: "tokenRequestBody",
  redeem_at: "redeemAt",
} as const satisfies Record<string, keyof ResolvedVendor>;

type Field = (typeof ENDPOINTS)[keyof typeof ENDPOINTS] | (typeof BEHAVIOUR)[keyof typeof BEHAVIOUR];

export function endpointsOf({ vendor }: Pick<VendorChoice, "vendor">): Record<string, string | null> {
  return Object.fromEntries(Object.entries(ENDPOINTS).map(([name, field]) => [name, vendor[field] ?? null]));
}

export function placeholdersOf({ target }: Pick<VendorChoice, "target">): Record<string, string> {
  return { ...target.placeholders };
}

export function sourcesOf(choice: VendorChoice, manual: Manual): Record<string, Source> {
  const sources: Record<string, Source> = { vendor_client_id: credentialsSourceOf(choice, manual) };
  for (const [name, field] of Object.entries(ENDPOINTS)) {
    if (choice.vendor[field] !== undefined) sources[name] = sourceOf(field, choice, manual);
  }
  for (const [name, field] of Object.entries(BEHAVIOUR)) sources[name] = sourceOf(field, choice, manual);
  for (const [name, value] of Object.entries(choice.target.placeholders ?? {})) {
    const isDefault = choice.entry?.placeholders[name]?.default === value;
    sources[`placeholders.${name}`] = isDefault ? "default" : manual;
  }
  return sources;
}

export function credentialsSourceOf({ credentials }: Pick<VendorChoice, "credentials">, manual: Manual): Source {
  if (credentials.source === "byoc") return manual;
  return credentials.source === "environment" ? "environment" : "configuration";
}

const DEFAULTS = defineVendor({ id: "default", name: "Default" });

function sourceOf(field: Field, { target, entry, vendor }: VendorChoice, manual: Manual): Source {
  const isNamed = field === "issuer" || field === "authorizationEndpoint" || field === "tokenEndpoint";
  if (isNamed && target[field] !== undefined) return manual;
  const written = entry?.vendor[field];
  const isTaken = written !== undefined && (written === vendor[field] || written.includes("{"));
  if (isTaken && written === REGISTRY.get(entry?.vendor.id ?? "")?.vendor[field]) return "registry";
  if (vendor[field] === DEFAULTS[field]) return "default";
  return isTaken ? "configuration" : "discovery";
}
