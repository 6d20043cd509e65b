/**
 * Our credentials at a vendor: from the file, else from the environment, which has secrets only and no keys. What is wrong with
 * them is credential-problems.ts. Called by vendors.ts and build.ts.
 */
import { hash } from "node:crypto";
import { Secret, type VendorCredentials } from "@oauth-broker/oauth-core";
import { present } from "../present.ts";
import { type Environment, variable } from "../source.ts";
import type { ParsedCredentials } from "../schema/vendor-parts.ts";

/** @param listed absent: those of the environment are meant */
export function buildCredentials(
  id: string,
  listed: readonly ParsedCredentials[] | undefined,
  env: Environment,
): VendorCredentials[] {
  return listed === undefined ? environmentCredentials(id, env) : listedCredentials(listed);
}

function listedCredentials(entries: readonly ParsedCredentials[]): VendorCredentials[] {
  return entries.map((entry) => ({
    id: entry.id ?? entry.client_id,
    source: "shared",
    clientId: entry.client_id,
    ...present({ clientSecret: entry.client_secret, signingKey: signingKey(entry), certificate: certificateOf(entry) }),
  }));
}

function signingKey({ team_id: teamId, key_id: keyId, private_key: privateKey }: ParsedCredentials) {
  return teamId === undefined || keyId === undefined || privateKey === undefined
    ? undefined
    : { teamId, keyId, privateKey };
}

function certificateOf({ certificate, private_key: privateKey }: ParsedCredentials) {
  if (certificate === undefined || privateKey === undefined) return undefined;
  return { privateKey, thumbprint: hash("sha256", certificate.raw, "base64url") };
}

/** `VENDOR_MY_VENDOR_CLIENT_ID` of `my-vendor`. */
function environmentCredentials(id: string, env: Environment): VendorCredentials[] {
  const clientId = variable(env, idVariable(id));
  const secret = variable(env, secretVariable(id));
  if (clientId === undefined) return [];
  return [
    {
      id: "environment",
      source: "environment",
      clientId,
      ...(secret === undefined ? {} : { clientSecret: new Secret(secret) }),
    },
  ];
}

/** Variables that look like a vendor's credentials but reach none. */
export function environmentWarnings(env: Environment, ids: readonly string[]): string[] {
  const meant = new Map(ids.map((id) => [id.toUpperCase().replaceAll("-", "_"), id]));
  return Object.keys(env).flatMap((name) => {
    const [, vendor = "", field] = /^VENDOR_([A-Z0-9_]+)_CLIENT_(ID|SECRET)$/.exec(name) ?? [];
    if (field === undefined || variable(env, name) === undefined) return [];
    if (!meant.has(vendor)) return [`${name} is set, but no vendor has that id`];
    const withoutId = field === "SECRET" && variable(env, `VENDOR_${vendor}_CLIENT_ID`) === undefined;
    return withoutId ? [`${name} is set without VENDOR_${vendor}_CLIENT_ID and is not used`] : [];
  });
}

export function idVariable(id: string): string {
  return `VENDOR_${id.toUpperCase().replaceAll("-", "_")}_CLIENT_ID`;
}

export function secretVariable(id: string): string {
  return `VENDOR_${id.toUpperCase().replaceAll("-", "_")}_CLIENT_SECRET`;
}
