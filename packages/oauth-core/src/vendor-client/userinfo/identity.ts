/** Joins members of a vendor's response to the identity of a user. */
import type { JsonObject, JsonValue } from "../../ports.ts";
import type { IdentityMembers } from "../../registry/account.ts";
import { invalidVendorResponse } from "../errors.ts";
import { memberAt } from "../member-path.ts";

/**
 * @returns the parts joined with `:`
 * @throws OAuthError vendor_response_invalid, `identity_missing`, when a part is missing or cannot
 *   identify a user permanently
 */
export function identityOf(answer: JsonObject, members: IdentityMembers): string {
  const parts = members.map((path) => {
    const part = identityPart(memberAt(answer, path));
    if (part === undefined) throw identityMissing(`${path} is missing or is not an identifier`);
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
