/** Vendor ids and the URLs of vendors and clients: judged here as every outbound call is judged later. */
import { requireEgressUrl } from "@oauth-broker/oauth-core/egress";
import { type FieldMeta, problemOfThrown, text } from "./fields.ts";

/** What the egress section of the same file permits. */
export interface UrlRules {
  readonly allowLoopback: boolean;
  readonly allowCidrs: readonly string[];
}

export function checkVendorId(value: string): string | undefined {
  return /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(value)
    ? undefined
    : "must be a vendor id: lower case letters, digits and -";
}

export const HAS_BRACES = "has braces: {placeholders} are not available in this release, so write the whole address";

/**
 * An endpoint, judged by the same rules as every outbound call.
 *
 * @param filledLater the placeholders it may hold all the same: what a vendor's dialect fills in itself
 */
//= bar#EG-7
export function endpoint(rules: UrlRules, meta: Omit<FieldMeta, "type">, filledLater: RegExp = /(?!)/) {
  const type = "absolute https URL on port 443 (other ports and http only where egress allows it)";
  return text({ type, ...meta }, (value) => {
    const judged = value.replace(filledLater, "placeholder");
    // They would go to the browser as they stand.
    if (/[{}]/.test(judged)) return HAS_BRACES;
    return problemOfThrown(() => void requireEgressUrl(judged, rules))?.replace(/^An endpoint /, "");
  });
}
