/** Reads a member of a vendor's response by its path, and joins such members to an identity. */
import type { JsonObject, JsonValue } from "../../ports.ts";
import type { IdentityMembers, MemberPath } from "../../vendors/account.ts";
import { isJsonObject } from "../../protocol/strict-json.ts";
import { invalidVendorResponse } from "../errors.ts";

/**
 * One member of a vendor's response.
 *
 * @returns undefined when the member is absent or null
 */
export function memberAt(answer: JsonObject, path: MemberPath): JsonValue | undefined {
  let value: JsonValue | undefined = answer;
  for (const name of path.split(".")) {
    if (isList(value)) value = /^\d{1,3}$/.test(name) ? value[Number(name)] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value ?? undefined;
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * @returns the parts joined with `:`
 * @throws OAuthError vendor_response_invalid, `identity_missing`, when a part is missing or cannot
 *   identify a user permanently
 */
export function identityOf(answer: JsonObject, members: IdentityMembers): string {
  const parts = members.map((path) => {
    const part = identityPart(memberAt(answer, path));
    if (part === undefined) throw identityMissing(`${path} is missing or is no identifier`);
    // Parts that contain `:` could be joined to the same text as two other parts.
    if (members.length > 1 && part.includes(":")) throw identityMissing(`${path} contains the separator`);
    return part;
  });
  return parts.join(":");
}

const IDENTIFIER = /^[\x20-\x7e]{1,255}$/;
const EMAIL = /^[^@\s]+@[^@\s]+\.[^@\s]+$/;

/** A number beyond 2^53 has lost digits and may be another user's. */
function identityPart(value: JsonValue | undefined): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
  return typeof value === "string" && IDENTIFIER.test(value) && !EMAIL.test(value) ? value : undefined;
}

export function identityMissing(detail: string): Error {
  return invalidVendorResponse(`identity: ${detail}`, { reason: "identity_missing" });
}
