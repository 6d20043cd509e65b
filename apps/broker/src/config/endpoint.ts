/** Vendor ids and the URLs of vendors and clients: judged here as every outbound call is judged later. */
import { placeholderNames } from "@oauth-broker/oauth-core";
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

/** An endpoint, judged by the same rules as every outbound call; placeholders count as one plain label or segment. */
//= bar#EG-7
export function endpoint(rules: UrlRules, meta: Omit<FieldMeta, "type">) {
  const type = "absolute https URL on port 443 (other ports and http only where egress allows it)";
  return text({ type, ...meta }, (value) =>
    problemOfThrown(() => {
      placeholderNames(value);
      // As a whole host it stands for a domain name, elsewhere for a label, a segment or a query value.
      requireEgressUrl(
        value.replace(/^(https?:\/\/)\{[^{}]*\}/, "$1placeholder.example").replace(/\{[^{}]*\}/g, "placeholder"),
        rules,
      );
    })?.replace(/^An endpoint /, ""),
  );
}
