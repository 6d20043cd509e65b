/** The findings of a probe, one line each. */
import { OAuthError } from "@oauth-broker/oauth-core";
import { isEgressError } from "@oauth-broker/oauth-core/egress";
import { explain } from "./refusal.ts";

export interface Finding {
  readonly check: string;
  /** `note`: unknown, or no contradiction of the entry; `unasked`: no answer came. */
  readonly result: "same" | "drift" | "note" | "unasked";
  readonly text: string;
}

type Find = (check: string, text: string) => Finding;
export const same: Find = (check, text) => ({ check, result: "same", text });
export const drift: Find = (check, text) => ({ check, result: "drift", text });
export const note: Find = (check, text) => ({ check, result: "note", text });

/** @returns a finding for an outage; undefined for an error that is an answer */
export function unasked(check: string, error: unknown): Finding | undefined {
  const cause = error instanceof OAuthError ? error.cause : error;
  if (isEgressError(cause) && cause.kind !== "too_large" && cause.kind !== "unreadable") {
    return { check, result: "unasked", text: `could not be checked: ${cause.kind}, ${cause.detail}` };
  }
  if (!(error instanceof OAuthError) || error.code !== "temporarily_unavailable") return undefined;
  return { check, result: "unasked", text: `could not be checked: ${explain(error)}` };
}
