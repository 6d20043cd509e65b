/**
 * The vendor, our client there, the scopes to request, and whether the mode can work with this
 * vendor.
 */
import { defined, Secret } from "@oauth-broker/oauth-core";
import { canIdentify, canValidateAccessToken, hasIdTokens, withClientId } from "@oauth-broker/oauth-core/vendor-client";
import { parseScope } from "@oauth-broker/oauth-core/protocol";
import {
  type ResolvedVendor,
  type Vendor,
  type VendorCredentials,
  withSecret,
} from "@oauth-broker/oauth-core/registry";
import { problemOfThrown } from "@oauth-broker/service/configuration";
import type { CommonSettings, Settings, VendorSettings } from "../settings.ts";
import { checkHostOrDomain } from "./hosts.ts";
import { isRefused, type Reader } from "./reader.ts";
import { readVendorEntry, type VendorEntry } from "./vendor-entry.ts";

export interface VendorRules {
  readonly mode: Settings["mode"] | undefined;
  readonly egress: CommonSettings["egress"];
  readonly allowVendorWithoutPkce: boolean;
  /** Among several vendors. Absent: the only one. */
  readonly role?: "sign-in" | "linked";
}

/** @returns undefined when something about it is wrong: the reader holds the reasons */
export function readVendor(read: Reader, rules: VendorRules): VendorSettings | undefined {
  const found = readVendorEntry(read, rules.egress);
  const credentials = readCredentials(read, rules.mode);
  const given = read.text("VENDOR_SCOPES", checkScopes);
  const hosts = read.list("VENDOR_API_HOSTS", (host) => checkHostOrDomain(host, rules.egress));
  if (found === undefined) return undefined;
  const vendor = withOwnSecret(found, credentials, read);
  const scopes = given === undefined ? vendor.defaultScopes : scopesIn(given, vendor, read);
  const settings = { vendor, credentials, scopes, apiHosts: [...new Set([...vendor.apiHosts, ...hosts])] };
  warnOfSetup(read, found, rules);
  if (rules.mode === "pre-registered" && !isRefused(read, "VENDOR_CLIENT_ID", "VENDOR_CLIENT_SECRET")) {
    checkTokenValidation(read, settings);
  }
  if (rules.mode === "hosted" && !isRefused(read, "VENDOR_SCOPES")) {
    checkBinding(read, settings, rules);
    const isAccountRefused = isRefused(read, "VENDOR_ACCOUNT_URL", "VENDOR_IDENTITY");
    if (rules.role !== "linked" && !isAccountRefused) checkIdentity(read, settings, rules);
  }
  return settings;
}

/** The platform hands over the code alone. */
export function checkPlatformCallback(read: Reader, { vendor }: Pick<VendorSettings, "vendor">): void {
  const { callbackCodeName, echoedCallbackParams, repeatsState, refreshCallbackParams } = vendor;
  if (refreshCallbackParams !== undefined) return; // refused at either callback
  if ((callbackCodeName ?? echoedCallbackParams ?? repeatsState) === undefined) return;
  read.refuse(
    "OAUTH_CALLBACK",
    "must be server for VENDOR: its token request needs more of its callback than the code",
  );
}

function readCredentials(read: Reader, mode: VendorRules["mode"]): VendorCredentials | undefined {
  const clientId = read.secret("VENDOR_CLIENT_ID");
  const secret = read.secret("VENDOR_CLIENT_SECRET");
  if (read.value("VENDOR_CLIENT_ID") === undefined) {
    if (mode === "hosted") read.refuse("VENDOR_CLIENT_ID", "is missing: hosted mode is a client of the vendor");
    else if (secret !== undefined) read.refuse("VENDOR_CLIENT_SECRET", "is set without VENDOR_CLIENT_ID");
  }
  if (clientId === undefined) return undefined;
  return { id: "environment", source: "environment", clientId, ...defined({ clientSecret: Secret.of(secret) }) };
}

const checkScopes = (written: string): string | undefined =>
  problemOfThrown(() => void parseScope(written))?.replace(/^scope /, "");

/** We write the vendor's own separator; in the variable it is a space, or if it is one a comma. */
function scopesIn(given: string, { scopeSeparator }: Pick<Vendor, "scopeSeparator">, read: Reader): readonly string[] {
  if (scopeSeparator === ",") return parseScope(given.replaceAll(",", " "));
  const scopes = parseScope(given);
  if (given.includes(",")) read.refuse("VENDOR_SCOPES", "has a comma: separate scopes by spaces");
  else if (scopeSeparator !== " " && scopes.some((scope) => scope.includes(scopeSeparator))) {
    read.refuse("VENDOR_SCOPES", "must have spaces between scopes, even if the vendor has another separator");
  }
  return scopes;
}

/**
 * Without a secret we are a public client, even if the registry names a method; a given secret is
 * used.
 */
function withOwnSecret({ vendor }: VendorEntry, credentials: VendorCredentials | undefined, read: Reader): Vendor {
  if (credentials === undefined) return vendor;
  if (vendor.clientSecret !== undefined) {
    read.refuse("VENDOR", "takes a client secret that is signed for each request, which this server does not support");
    return vendor;
  }
  if (vendor.refreshCallbackParams !== undefined) {
    // Nothing of a callback is stored here, so that each refresh would be refused.
    read.refuse("VENDOR", "wants part of the callback again with each refresh, which this server does not support");
    return vendor;
  }
  const named = withClientId(vendor, credentials.clientId, {});
  return credentials.clientSecret === undefined ? { ...named, tokenEndpointAuthMethod: "none" } : withSecret(named);
}

function warnOfSetup(read: Reader, { entry }: VendorEntry, { mode }: Pick<VendorRules, "mode">): void {
  const hasSecrets = entry !== undefined && entry.vendor.tokenEndpointAuthMethod !== "none";
  if (mode === "hosted" && hasSecrets && read.value("VENDOR_CLIENT_SECRET") === undefined) {
    read.warn(
      "VENDOR_CLIENT_SECRET is not set: if your client at VENDOR has a secret, no user can authorize without it",
    );
  }
  if (entry?.setup === "vendor_approval") {
    read.warn("VENDOR approves each organization first: until then no user can authorize");
  }
  if (entry?.setup === "environment_id") {
    read.warn("VENDOR needs the consent of an administrator first, once for an organization");
  }
}

/**
 * The vendor as it will be used. Undefined when metadata is needed for more: then problems appear
 * at the first call.
 */
function resolvedNow(vendor: Vendor): ResolvedVendor | undefined {
  const { authorizationEndpoint, tokenEndpoint, issRequired: issExpected = false } = vendor;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) return undefined;
  return { ...vendor, authorizationEndpoint, tokenEndpoint, issExpected };
}

/** A client pin that cannot be enforced is refused: the operator would rely on it. */
function checkTokenValidation(
  read: Reader,
  { vendor, credentials }: Pick<VendorSettings, "vendor" | "credentials">,
): void {
  const resolved = resolvedNow(vendor);
  if (resolved === undefined || canValidateAccessToken(resolved, credentials)) return;
  const needsSecret = vendor.introspectionEndpoint !== undefined || vendor.tokenCheck !== undefined;
  if (credentials !== undefined && canValidateAccessToken(resolved, undefined)) {
    const way = needsSecret ? "VENDOR_CLIENT_SECRET" : "VENDOR_INTROSPECTION_URL and VENDOR_CLIENT_SECRET";
    read.refuse(
      "VENDOR_CLIENT_ID",
      `is set, and VENDOR does not say which client a user's token was issued to: set ${way}, or unset VENDOR_CLIENT_ID and take the tokens of every client there`,
    );
    return;
  }
  read.refuse(
    "VENDOR",
    needsSecret
      ? "cannot be asked whether a user's token is good: set VENDOR_CLIENT_ID and VENDOR_CLIENT_SECRET, or VENDOR_USERINFO_URL"
      : "has no endpoint that says whether a user's token is good: set VENDOR_USERINFO_URL or VENDOR_INTROSPECTION_URL",
  );
}

/** What binds the vendor's code to its flow: PKCE, or the nonce of an ID token. */
//= rfc9700#2.1.1
function checkBinding(
  read: Reader,
  { vendor, scopes }: Pick<VendorSettings, "vendor" | "scopes">,
  { allowVendorWithoutPkce }: VendorRules,
): void {
  if (vendor.pkce === "plain") {
    read.warn("VENDOR has PKCE without a hash: a reader of the authorization request can use the code that answers it");
  }
  if (vendor.pkce !== "none" || (hasIdTokens(vendor) && scopes.includes("openid"))) return;
  if (allowVendorWithoutPkce) {
    read.warn(
      "ALLOW_VENDOR_WITHOUT_PKCE is on, and VENDOR has neither PKCE nor ID tokens: AN ATTACKER WHO STEALS A CODE CAN USE IT",
    );
    return;
  }
  read.refuse(
    "ALLOW_VENDOR_WITHOUT_PKCE",
    "is not true, and VENDOR has neither PKCE nor ID tokens (an issuer, and openid among VENDOR_SCOPES): an attacker who steals a code could use it",
  );
}

function checkIdentity(
  read: Reader,
  { vendor, scopes }: Pick<VendorSettings, "vendor" | "scopes">,
  { role }: VendorRules,
): void {
  // Without openid the vendor issues no ID token.
  const resolved = resolvedNow(scopes.includes("openid") ? vendor : { ...vendor, issuesIdTokens: false });
  if (resolved === undefined || canIdentify(resolved, "user")) return;
  const why = role === "sign-in" ? "and is to sign them in" : "so every authorization would fail";
  read.refuse(
    "VENDOR",
    `does not identify its users, ${why}: set VENDOR_USERINFO_URL, VENDOR_ACCOUNT_URL with VENDOR_IDENTITY, or VENDOR_ISSUER with openid among VENDOR_SCOPES`,
  );
}
