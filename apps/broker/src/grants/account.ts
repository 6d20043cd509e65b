/**
 * The account that new tokens belong to, for `connection`: the subject of the ID token, or without
 * an ID token what the operator's file names: userinfo (docs/decisions/0063), an account, an
 * identity.
 * The vendor's code is already spent, so no failure here may lose the tokens.
 */
import { toOAuthError } from "@oauth-broker/oauth-core";
import type { VendorTokens } from "@oauth-broker/oauth-core/registry";
import type { Trace } from "@oauth-broker/service/http";
import type { Deps } from "../deps.ts";
import type { VendorChoice } from "../vendor-choice/choose.ts";

export interface Account {
  /** The vendor's issuer, if it has one. */
  readonly iss?: string;
  readonly sub: string;
}

/** The backend waits for its tokens in the meantime. */
const USERINFO_SECONDS = 3;

/**
 * @returns undefined when nothing names the account, also when userinfo fails: the failure is
 *   logged and the tokens are handed over
 */
export async function accountOf(
  tokens: VendorTokens,
  choice: Pick<VendorChoice, "vendor" | "entry" | "tier" | "vendorClient">,
  { timer }: Pick<Deps, "timer">,
  trace: Trace,
): Promise<Account | undefined> {
  if (tokens.idToken !== undefined) return { iss: tokens.idToken.issuer, sub: tokens.idToken.subject };
  // At tier 3 the tokens come from another host than the one whose userinfo endpoint the operator
  // named.
  if (choice.entry?.accountBy === undefined || choice.tier !== 1) return undefined;
  const late = timer
    .sleep(USERINFO_SECONDS * 1000, { background: true })
    .then(() => "temporarily_unavailable" as const);
  const asked = ask(tokens, choice, choice.entry.accountBy === "own");
  const answer = await Promise.race([asked.catch(reasonOf), late]);
  if (typeof answer === "object") return answer;
  trace.warning = `userinfo: ${answer}`;
  return undefined;
}

/**
 * By the account or identity that the configuration names; its names for users are not those of ID
 * tokens, so that no issuer is named. Without one by userinfo: that is the endpoint in the operator's
 * file alone, and the registry's accounts of this vendor may differ.
 */
async function ask(
  tokens: VendorTokens,
  { vendor, vendorClient }: Pick<VendorChoice, "vendor" | "vendorClient">,
  isOwn: boolean,
): Promise<Account> {
  const { account: _own, identity = "unknown", ...rest } = vendor;
  if (isOwn) return { sub: await vendorClient.identify({ ...vendor, identity }, tokens) };
  const sub = await vendorClient.identify({ ...rest, identity: "unknown" }, tokens);
  const { issuer, issuerTemplate } = vendor;
  return issuer === undefined || issuerTemplate !== undefined ? { sub } : { iss: issuer, sub };
}

/** An error code: nothing names an account. */
function reasonOf(error: unknown): string {
  const { code, extras } = toOAuthError(error);
  return extras.reason ?? code;
}
