/**
 * What is wrong with our credentials at a vendor: whether secrets, or keys in their place, are there where the vendor wants them, and
 * only there. Called by vendors.ts.
 */
import type { KeyObject } from "node:crypto";
import type { Vendor, VendorCredentials } from "@oauth-broker/oauth-core";
import { formatPath, type Problem } from "../problems.ts";
import { idVariable, secretVariable } from "./credentials.ts";
import type { ParsedCredentials } from "../schema/vendor-parts.ts";

/** @param warnings is added to */
export function credentialProblems(
  vendor: Vendor,
  credentials: readonly VendorCredentials[],
  listed: readonly ParsedCredentials[] | undefined,
  warnings: string[],
): Problem[] {
  const isSent = vendor.tokenEndpointAuthMethod !== "none" || vendor.clientSecret !== undefined;
  if (!isSent && credentials.some(({ clientSecret }) => clientSecret !== undefined)) {
    warnings.push(`Vendor ${vendor.id} has a client secret that is never sent: its token_endpoint_auth_method is none`);
  }
  return listed === undefined
    ? credentials.flatMap((one) => environmentProblems(one, vendor))
    : listed.flatMap((entry, index) => entryProblems(entry, index, vendor));
}

const FIELDS = ["client_secret", "team_id", "key_id", "private_key", "certificate"] as const;
type Field = (typeof FIELDS)[number];

const SECRET = "a secret, or token_endpoint_auth_method: none for a public client";
const SIGNED = "client_id, team_id, key_id and private_key: this vendor's client secret is a JWT signed with that key";
const CERTIFICATE = "either client_secret, or private_key and certificate";

function environmentProblems({ clientSecret }: VendorCredentials, vendor: Vendor): Problem[] {
  const { id, tokenEndpointAuthMethod: method } = vendor;
  if (vendor.clientSecret !== undefined) {
    return [
      {
        path: idVariable(id),
        problem: "is set, but this vendor takes a key in place of a secret, and keys stand in the file",
        expected: `${formatPath(["vendors", id, "credentials"])} with ${SIGNED}`,
      },
    ];
  }
  const isComplete = clientSecret !== undefined || method === "none";
  return isComplete ? [] : [{ path: secretVariable(id), problem: "is not set", expected: SECRET }];
}

interface Wanted {
  readonly fields: readonly Field[];
  readonly optional?: Field;
  readonly expected: string;
  /** Of `private_key`. */
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

/** By what the vendor takes and, where there is a choice, what of it the entry has begun with. */
function wanted(entry: ParsedCredentials, vendor: Vendor): Wanted {
  const { clientSecret, clientAssertion, tokenEndpointAuthMethod: method } = vendor;
  if (clientSecret !== undefined) {
    return { fields: ["team_id", "key_id", "private_key"], expected: SIGNED, key: P256 };
  }
  if (clientAssertion !== undefined && (entry.private_key ?? entry.certificate) !== undefined) {
    return { fields: ["private_key", "certificate"], expected: CERTIFICATE, key: RSA };
  }
  if (method === "none") return { fields: [], optional: "client_secret", expected: SECRET };
  return { fields: ["client_secret"], expected: clientAssertion === undefined ? SECRET : CERTIFICATE };
}

function entryProblems(entry: ParsedCredentials, index: number, vendor: Vendor): Problem[] {
  const { fields, optional, expected, key } = wanted(entry, vendor);
  const say = (field: Field, problem: string): Problem => ({
    path: formatPath(["vendors", vendor.id, "credentials", index, field]),
    problem,
    expected,
  });
  const missing = fields.filter((field) => entry[field] === undefined);
  const foreign = FIELDS.filter((field) => entry[field] !== undefined && !fields.includes(field) && field !== optional);
  const { private_key: privateKey, certificate } = entry;
  const isMisfit = key !== undefined && privateKey !== undefined && !key.fits(privateKey);
  const isAnothers = privateKey !== undefined && certificate?.checkPrivateKey(privateKey) === false;
  return [
    ...missing.map((field) => say(field, "is missing")),
    ...foreign.map((field) => say(field, "is not what this vendor takes")),
    ...(isMisfit ? [say("private_key", key.problem)] : []),
    ...(isAnothers && foreign.length === 0 ? [say("certificate", "is that of another key than private_key")] : []),
  ];
}
