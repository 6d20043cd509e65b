/** What a linked account is called on our pages: what its user would recognise. */
import type { JsonObject, JsonValue } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/client";
import type { ResolvedVendor, VendorTokens } from "@oauth-broker/oauth-core/registry";

/** In the order of preference; an identity alone says nothing to its user. */
const MEMBERS = [
  "email",
  "preferred_username",
  "login",
  "username",
  "userPrincipalName",
  "user",
  "displayName",
  "name",
] as const;
const LONGEST = 200;

/**
 * Best effort: the ID token, else the vendor's account of the user.
 *
 * @returns undefined when neither says anything a user would recognise
 */
export async function accountLabel(
  vendor: ResolvedVendor,
  { accessToken, idToken }: VendorTokens,
  { vendorClient }: { readonly vendorClient: Pick<VendorClient, "account"> },
): Promise<string | undefined> {
  const own = idToken === undefined ? undefined : labelIn(claimsOf(idToken.raw));
  if (own !== undefined) return own;
  const account = await vendorClient.account(vendor, accessToken, idToken?.subject).catch(() => undefined);
  return account === undefined ? undefined : labelIn(account);
}

function labelIn(members: JsonObject): string | undefined {
  return MEMBERS.map((name) => textOf(members[name])).find((label) => label !== undefined);
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.toWellFormed().slice(0, LONGEST) : undefined;
}

/** Of a token that was verified when it was issued. */
function claimsOf(idToken: string): JsonObject {
  try {
    return JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString("utf8")) as JsonObject;
  } catch {
    return {};
  }
}
