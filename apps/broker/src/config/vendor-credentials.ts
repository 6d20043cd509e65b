/**
 * Our credentials at a vendor: from the file, else from the environment, and what is wrong with them there. A vendor whose client
 * secrets are signed takes a key in place of a secret, and the file alone can hold one. Called by vendors.ts and build.ts.
 */
import { Secret, type Vendor, type VendorCredentials } from "@oauth-broker/oauth-core";
import { present } from "./present.ts";
import { formatPath, type Problem } from "./problems.ts";
import { type Environment, variable } from "./source.ts";
import type { ParsedCredentials } from "./vendor-parts.ts";

/** @param listed absent: those of the environment are meant */
export function buildCredentials(
  id: string,
  listed: readonly ParsedCredentials[] | undefined,
  env: Environment,
): VendorCredentials[] {
  return listed === undefined ? environmentCredentials(id, env) : listedCredentials(listed);
}

function listedCredentials(entries: readonly ParsedCredentials[]): VendorCredentials[] {
  return entries.map((entry) => {
    const { team_id: teamId, key_id: keyId, private_key: privateKey } = entry;
    const isKey = teamId !== undefined && keyId !== undefined && privateKey !== undefined;
    return {
      id: entry.id ?? entry.client_id,
      source: "shared",
      clientId: entry.client_id,
      ...present({ clientSecret: entry.client_secret }),
      ...(isKey ? { signingKey: { teamId, keyId, privateKey } } : {}),
    };
  });
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

/** Whether secrets, or keys, are there where the vendor wants them, and only there. @param warnings is added to */
export function credentialProblems(
  vendor: Vendor,
  credentials: readonly VendorCredentials[],
  listed: readonly ParsedCredentials[] | undefined,
  warnings: string[],
): Problem[] {
  if (vendor.clientSecret !== undefined) return keyProblems(vendor.id, credentials, listed);
  const { id } = vendor;
  const isPublic = vendor.tokenEndpointAuthMethod === "none";
  if (isPublic && credentials.some(({ clientSecret }) => clientSecret !== undefined)) {
    warnings.push(`Vendor ${id} has a client secret that is never sent: its token_endpoint_auth_method is none`);
  }
  const expected = "a secret, or token_endpoint_auth_method: none for a public client";
  const missing = credentials.flatMap(({ clientSecret, source }, index): Problem[] => {
    if (isPublic || clientSecret !== undefined) return [];
    return source === "environment"
      ? [{ path: secretVariable(id), problem: "is not set", expected }]
      : [{ path: pathOf(id, index, "client_secret"), problem: "is missing", expected }];
  });
  const foreign = (listed ?? []).flatMap((entry, index) =>
    KEY_FIELDS.filter((field) => entry[field] !== undefined).map((field) => ({
      path: pathOf(id, index, field),
      problem: "is for vendors whose client secret is a signed JWT, and this is none of them",
      expected: "client_id and client_secret",
    })),
  );
  return [...foreign, ...missing];
}

const KEY_FIELDS = ["team_id", "key_id", "private_key"] as const;
const KEY_EXPECTED =
  "client_id, team_id, key_id and private_key: this vendor's client secret is a JWT signed with that key";

function keyProblems(
  id: string,
  credentials: readonly VendorCredentials[],
  listed: readonly ParsedCredentials[] = [],
): Problem[] {
  const inEnvironment = credentials
    .filter(({ source }) => source === "environment")
    .map(() => ({
      path: idVariable(id),
      problem: "is set, but this vendor takes a key in place of a secret, and keys stand in the file",
      expected: `${formatPath(["vendors", id, "credentials"])} with ${KEY_EXPECTED}`,
    }));
  return [
    ...inEnvironment,
    ...listed.flatMap((entry, index): Problem[] => [
      ...KEY_FIELDS.filter((field) => entry[field] === undefined).map((field) => ({
        path: pathOf(id, index, field),
        problem: "is missing",
        expected: KEY_EXPECTED,
      })),
      ...(entry.client_secret === undefined
        ? []
        : [
            {
              path: pathOf(id, index, "client_secret"),
              problem: "is not what this vendor takes: its client secrets are signed when they are needed",
              expected: KEY_EXPECTED,
            },
          ]),
    ]),
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

function idVariable(id: string): string {
  return `VENDOR_${id.toUpperCase().replaceAll("-", "_")}_CLIENT_ID`;
}

function secretVariable(id: string): string {
  return `VENDOR_${id.toUpperCase().replaceAll("-", "_")}_CLIENT_SECRET`;
}

function pathOf(id: string, index: number, field: string): string {
  return formatPath(["vendors", id, "credentials", index, field]);
}
