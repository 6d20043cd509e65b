/**
 * What a vendor's answer says under a path, and the identity that is joined from such parts.
 */
import type { JsonObject, JsonValue } from "../../ports.ts";
import type { IdentityMembers, MemberPath } from "../../vendors/account.ts";
import { isObject } from "../answer.ts";
import { invalidVendorResponse } from "../errors.ts";

/** @returns undefined where nothing is, and for null */
export function memberAt(answer: JsonObject, path: MemberPath): JsonValue | undefined {
  let value: JsonValue | undefined = answer;
  for (const name of path.split(".")) {
    if (isList(value)) value = /^\d{1,3}$/.test(name) ? value[Number(name)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value ?? undefined;
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * @returns the parts joined with `:`
 * @throws OAuthError vendor_response_invalid, `identity_missing`, when a part is missing or is
 *   nothing that could name a person for good
 */
export function identityOf(answer: JsonObject, members: IdentityMembers): string {
  const parts = members.map((path) => {
    const part = identityPart(memberAt(answer, path));
    if (part === undefined) throw identityMissing(`${path} is missing or is no identifier`);
    // Two parts with a `:` in them could be joined to what two others are joined to.
    if (members.length > 1 && part.includes(":")) throw identityMissing(`${path} has the joint in it`);
    return part;
  });
  return parts.join(":");
}

const IDENTIFIER = /^[\x20-\x7e]{1,255}$/;
const EMAIL = /^[^@\s]+@[^@\s]+\.[^@\s]+$/;

/** A number past 2^53 has lost its last digits and may be another person's. */
function identityPart(value: JsonValue | undefined): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
  return typeof value === "string" && IDENTIFIER.test(value) && !EMAIL.test(value) ? value : undefined;
}

export function identityMissing(detail: string): Error {
  return invalidVendorResponse(`identity: ${detail}`, { reason: "identity_missing" });
}
