/**
 * The broker's credentials at a vendor: from the file, otherwise from the environment, which holds
 * secrets but no keys. Then checks that a secret, or a key in its place, is there exactly if the
 * vendor takes one. Called by vendors.ts and build.ts.
 */
import { hash, type KeyObject } from "node:crypto";
import { defined, Secret } from "@oauth-broker/oauth-core";
import { type Vendor, type VendorCredentials, wireName } from "@oauth-broker/oauth-core/registry";
import { createEnvironmentReader, type Environment, valueOf, variableMeant } from "@oauth-broker/service/configuration";
import { formatPath, type Problem, type Say } from "../problems.ts";
import type { ParsedCredentials } from "../schema/vendor-parts.ts";
import type { ConfiguredCredentials, TenantValues } from "../../config-types.ts";

/**
 * @param listed the entries of the file; absent: the credentials come from the environment
 * @param problems receives what is wrong with a variable
 */
export function buildCredentials(
  id: string,
  listed: readonly ParsedCredentials[] | undefined,
  { env, problems }: { readonly env: Environment; readonly problems: Problem[] },
): ConfiguredCredentials[] {
  return listed === undefined ? environmentCredentials(id, env, problems) : listedCredentials(listed);
}

function listedCredentials(entries: readonly ParsedCredentials[]): ConfiguredCredentials[] {
  return entries.map((entry) => ({
    id: entry.id ?? entry.clientId,
    source: "shared",
    clientId: entry.clientId,
    ...defined({
      clientSecret: entry.clientSecret,
      signingKey: signingKey(entry),
      certificate: certificateOf(entry),
      tenants: entry.placeholders === undefined ? undefined : valuesOf(entry.placeholders),
    }),
  }));
}

function valuesOf(placeholders: NonNullable<ParsedCredentials["placeholders"]>): TenantValues {
  return Object.fromEntries(Object.entries(placeholders).map(([name, { values }]) => [name, values]));
}

function signingKey({ teamId, keyId, privateKey }: ParsedCredentials) {
  return teamId === undefined || keyId === undefined || privateKey === undefined
    ? undefined
    : { teamId, keyId, privateKey };
}

function certificateOf({ certificate, privateKey }: ParsedCredentials) {
  if (certificate === undefined || privateKey === undefined) return undefined;
  return { privateKey, thumbprint: hash("sha256", certificate.raw, "base64url") };
}

/** `VENDOR_MY_VENDOR_CLIENT_ID` for `my-vendor`. */
function environmentCredentials(id: string, env: Environment, problems: Problem[]): VendorCredentials[] {
  if (!isInEnvironment(id, env)) return [];
  const read = createEnvironmentReader(env, () => ({ type: "the value alone, as the vendor issued it", example: "…" }));
  const clientId = read.secret(variable(id, "ID"));
  const secret = read.secret(variable(id, "SECRET"));
  problems.push(...read.problems);
  if (clientId === undefined || read.problems.length > 0) return [];
  return [{ id: "environment", source: "environment", clientId, ...defined({ clientSecret: Secret.of(secret) }) }];
}

/** Whether a variable has the broker's client id at this vendor. */
export function isInEnvironment(id: string, env: Environment): boolean {
  return valueOf(env, variable(id, "ID")) !== undefined;
}

/**
 * Warns about variables that look like a vendor's credentials but belong to no vendor, and about misspelt ones.
 *
 * @param idOf the vendor that has this id or other name
 */
export function environmentWarnings(
  env: Environment,
  ids: readonly string[],
  idOf: (name: string) => string | undefined,
): string[] {
  const meant = new Map(ids.map((id) => [id.toUpperCase().replaceAll("-", "_"), id]));
  const ofVendors = ids.flatMap((id) => [variable(id, "ID"), variable(id, "SECRET")]);
  return Object.keys(env).flatMap((name) => {
    const [, vendor = "", field] = /^VENDOR_([A-Z0-9_]+)_CLIENT_(ID|SECRET)$/.exec(name) ?? [];
    if (valueOf(env, name) === undefined) return [];
    if (field === undefined) {
      const near = variableMeant(name, /^vendor/i.test(name) ? ofVendors : ["BROKER_CONFIG"]);
      return near === undefined || near === name ? [] : [`${name} is set, and not known here: did you mean ${near}?`];
    }
    if (!meant.has(vendor)) {
      const id = idOf(vendor.toLowerCase().replaceAll("_", "-"));
      return [`${name} is set, but ${id === undefined ? "no vendor has that id" : `the id of that vendor is ${id}`}`];
    }
    const withoutId = field === "SECRET" && valueOf(env, `VENDOR_${vendor}_CLIENT_ID`) === undefined;
    return withoutId ? [`${name} is set without VENDOR_${vendor}_CLIENT_ID and is not used`] : [];
  });
}

function variable(id: string, field: "ID" | "SECRET"): string {
  return `VENDOR_${id.toUpperCase().replaceAll("-", "_")}_CLIENT_${field}`;
}

/** @param deps.say takes a path below the vendor */
export function checkCredentials(
  vendor: Vendor,
  credentials: readonly VendorCredentials[],
  listed: readonly ParsedCredentials[] | undefined,
  { say, env, warnings }: { readonly say: Say; readonly env: Environment; readonly warnings: string[] },
): void {
  const name = variable(vendor.id, "ID");
  const unused = listed === undefined ? undefined : valueOf(env, name);
  if (unused !== undefined && !credentials.some(({ clientId }) => clientId === unused)) {
    warnings.push(`${name} is set and not used: the file has credentials of this vendor`);
  }
  const isSent = vendor.tokenEndpointAuthMethod !== "none" || vendor.clientSecret !== undefined;
  if (!isSent && credentials.some(({ clientSecret }) => clientSecret !== undefined)) {
    warnings.push(`Vendor ${vendor.id} has a client secret that is never sent: its token_endpoint_auth_method is none`);
  }
  if (listed === undefined) for (const one of credentials) checkEnvironment(one, vendor, say);
  else listed.forEach((entry, index) => checkEntry(entry, index, vendor, say));
}

const FIELDS = ["clientSecret", "teamId", "keyId", "privateKey", "certificate"] as const;
type Field = (typeof FIELDS)[number];

const SECRET = "a secret, or token_endpoint_auth_method: none for a public client";
const SIGNED = "client_id, team_id, key_id and private_key: this vendor's client secret is a JWT signed with that key";
const CERTIFICATE = "either client_secret, or private_key and certificate";

function checkEnvironment({ clientSecret }: VendorCredentials, vendor: Vendor, say: Say): void {
  const { id, tokenEndpointAuthMethod: method } = vendor;
  if (vendor.clientSecret !== undefined) {
    const problem = "is set, but this vendor takes a key instead of a secret, and keys stand in the file";
    say(variable(id, "ID"), problem, `${formatPath(["vendors", id, "credentials"])} with ${SIGNED}`);
  } else if (clientSecret === undefined && method !== "none") say(variable(id, "SECRET"), "is not set", SECRET);
}

interface Wanted {
  readonly fields: readonly Field[];
  readonly optional?: Field;
  readonly expected: string;
  /** The key of `private_key`. */
  readonly key?: KeyKind;
}

interface KeyKind {
  readonly problem: string;
  readonly fits: (key: KeyObject) => boolean;
}

const P256: KeyKind = {
  problem: "must be an EC key on P-256, for ES256",
  fits: ({ asymmetricKeyDetails }) => asymmetricKeyDetails?.namedCurve === "prime256v1",
};
const RSA: KeyKind = {
  problem: "must be an RSA key of at least 2048 bits, for PS256",
  fits: ({ asymmetricKeyType, asymmetricKeyDetails }) =>
    asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048,
};

/**
 * Chooses the fields the vendor takes; if it takes either kind, the fields the entry already has
 * decide.
 */
function wanted(entry: ParsedCredentials, vendor: Vendor): Wanted {
  const { clientSecret, clientAssertion, tokenEndpointAuthMethod: method } = vendor;
  if (clientSecret !== undefined) {
    return { fields: ["teamId", "keyId", "privateKey"], expected: SIGNED, key: P256 };
  }
  if (clientAssertion !== undefined && (entry.privateKey ?? entry.certificate) !== undefined) {
    return { fields: ["privateKey", "certificate"], expected: CERTIFICATE, key: RSA };
  }
  if (method === "none") return { fields: [], optional: "clientSecret", expected: SECRET };
  return { fields: ["clientSecret"], expected: clientAssertion === undefined ? SECRET : CERTIFICATE };
}

function checkEntry(entry: ParsedCredentials, index: number, vendor: Vendor, say: Say): void {
  const { fields, optional, expected, key } = wanted(entry, vendor);
  const sayOf = (field: Field, problem: string): void =>
    say(["credentials", index, wireName(field)], problem, expected);
  const missing = fields.filter((field) => entry[field] === undefined);
  const foreign = FIELDS.filter((field) => entry[field] !== undefined && !fields.includes(field) && field !== optional);
  const { privateKey, certificate } = entry;
  for (const field of missing) sayOf(field, "is missing");
  for (const field of foreign) sayOf(field, "is not what this vendor takes");
  if (key !== undefined && privateKey !== undefined && !key.fits(privateKey)) sayOf("privateKey", key.problem);
  const isAnothers = privateKey !== undefined && certificate?.checkPrivateKey(privateKey) === false;
  if (isAnothers && foreign.length === 0) sayOf("certificate", "does not belong to private_key");
}
