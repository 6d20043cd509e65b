/**
 * Whose account new tokens are of, for `connection`: the subject of the ID token; without one that
 * of userinfo, where the operator's file names the endpoint (docs/decisions/0030). The vendor's
 * code is spent by then: nothing here may lose the tokens.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { toOAuthError } from "@oauth-broker/oauth-core";
import type { VendorTokens } from "@oauth-broker/oauth-core/registry";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { VendorChoice } from "../vendor/choose.ts";

export interface Account {
  /** The vendor's issuer, where it is one. */
  readonly iss?: string;
  readonly sub: string;
}

/** A backend waits for its tokens meanwhile. */
const USERINFO_SECONDS = 3;

/**
 * @returns undefined where nothing names it, also when userinfo fails: then the log says so, and
 *   the tokens go out all the same
 */
export async function accountOf(
  tokens: VendorTokens,
  choice: Pick<VendorChoice, "vendor" | "entry" | "tier" | "vendorClient">,
  trace: Trace,
): Promise<Account | undefined> {
  if (tokens.idToken !== undefined) return { iss: tokens.idToken.issuer, sub: tokens.idToken.subject };
  // At tier 3 the tokens are of a host that the operator did not name userinfo for.
  if (choice.entry?.asksUserinfo !== true || choice.tier !== 1) return undefined;
  const late = sleep(USERINFO_SECONDS * 1000, "temporarily_unavailable" as const, { ref: false });
  const answer = await Promise.race([askUserinfo(tokens, choice), late]);
  if (typeof answer === "object") return answer;
  trace.warning = `userinfo: ${answer}`;
  return undefined;
}

/** @returns an error code where it names no account */
async function askUserinfo(
  tokens: VendorTokens,
  { vendor, vendorClient }: Pick<VendorChoice, "vendor" | "vendorClient">,
): Promise<Account | string> {
  // The endpoint of the operator's file, and not what the registry says of this vendor's accounts.
  const { account: _own, identity: _identity, ...rest } = vendor;
  try {
    const sub = await vendorClient.identify({ ...rest, identity: "unknown" }, tokens);
    const { issuer, issuerTemplate } = vendor;
    return issuer === undefined || issuerTemplate !== undefined ? { sub } : { iss: issuer, sub };
  } catch (error) {
    const { code, extras } = toOAuthError(error);
    return extras.reason ?? code;
  }
}
