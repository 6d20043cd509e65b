/**
 * What becomes of the tokens a link flow brought: stored over the link version that the page
 * showed, held back for a yes, or revoked. A refusal never leaves tokens behind that belong to no
 * link.
 */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import { canIdentify } from "@oauth-broker/oauth-core/vendor-client";
import type { ResolvedVendor, VendorTokens } from "@oauth-broker/oauth-core/registry";
import { errorFields } from "@oauth-broker/service";
import type { StoredTokens, TokenSet } from "@oauth-broker/token-store";
import {
  atVendor,
  discardTokens,
  endForeignLink,
  type LinkDeps,
  linkKey,
  losesScope,
  noteRestored,
  revokeAtVendor,
  tokenSetOf,
} from "../links/link.ts";
import { describeNew, grantedScope, toStorageError } from "../links/link-user.ts";
import type { Pages, PagesDeps } from "./deps.ts";
import type { DueLink, PendingLink, WaitingLink } from "./pending-tokens.ts";

/** The link that a flow is to make. */
export interface WantedLink {
  readonly user: string;
  /** The vendor as `VENDORS` lists it. */
  readonly listed: string;
  /** As the page showed it. */
  readonly linkVersion: number;
  /** Absent: the user began on the page of connections. */
  readonly ticketId?: string;
}

/** The tokens of one link flow. */
export interface BroughtTokens extends WantedLink {
  readonly vendor: ResolvedVendor;
  readonly tokens: VendorTokens;
  readonly requestedScope: readonly string[];
}

export type Outcome = "linked" | "asked" | "other_account" | "link_changed";

/**
 * @param cookieHash of the browser that brought them
 * @throws OAuthError; the tokens are then revoked
 */
export async function takeTokens(brought: BroughtTokens, cookieHash: string, deps: PagesDeps): Promise<Outcome> {
  const { user, listed, linkVersion, ticketId, requestedScope } = brought;
  const at = atVendor(listed, deps);
  const scope = grantedScope(brought.tokens, requestedScope);
  const bare = tokenSetOf({ ...brought.tokens, scope }, at);
  try {
    // 1. whose they are
    const account = canIdentify(brought.vendor)
      ? await deps.vendorClient.identify(brought.vendor, brought.tokens)
      : undefined;
    const isSignIn = listed === deps.settings.links.signIn;
    if (isSignIn && account !== user) {
      // 2. at the sign-in vendor only this user's
      await revokeAtVendor(bare, at);
      return "other_account";
    }
    const { stored, linkVersion: presentVersion } = await at.tokens.readLink(linkKey(user, at));
    const linked = typeof stored === "object" ? stored : undefined;
    const before = linked?.tokens.link;
    // On the page of connections the user asks again for what was refused.
    const isKnown = ticketId !== undefined && isSameAccount(account, before?.account);
    const { notGranted = [], lacked } = (isKnown ? before : undefined) ?? {};
    const refused = { notGranted: [...requestedScope, ...notGranted], ...defined({ lacked }) };
    const tokens: TokenSet = { ...bare, link: await describeNew({ ...brought, scope }, account, refused, at) };
    const pending = { user, vendor: listed, linkVersion, tokens, ...defined({ ticketId }) };
    // 3. not over a disconnect
    if (presentVersion !== linkVersion) return await discardLate(pending, at);
    // A link from before there were several vendors is of the sign-in account itself.
    const present = before?.account ?? (isSignIn ? user : undefined);
    const isOther = linked !== undefined && !isSameAccount(account, present);
    if (isOther || (linked !== undefined && losesScope(linked, scope, at))) {
      // 4. the user says
      const replaced = await deps.pendingTokens.ask({ ...pending, isOther }, cookieHash);
      for (const one of replaced) await endUnanswered(one, deps);
      return "asked";
    }
    // 5. instead of the same account's
    return await store(pending, undefined, at);
  } catch (thrown) {
    await discardTokens(bare, user, at);
    throw toStorageError(thrown);
  }
}

/** The user said yes. */
export async function replaceLink(pending: WaitingLink, deps: PagesDeps): Promise<Outcome> {
  const at = atVendor(pending.vendor, deps);
  const { stored } = await at.tokens.readLink(linkKey(pending.user, at));
  return store(pending, pending.isOther && typeof stored === "object" ? stored : undefined, at);
}

/** @param why `denied`: the user said no; `ended`: nothing in time, or another account since */
export async function dropPending(pending: WaitingLink, why: "denied" | "ended", deps: Pages): Promise<void> {
  const { user, vendor, tokens, isOther, ticketId } = pending;
  const at = atVendor(vendor, deps);
  await discardTokens(tokens, user, at);
  const refused = tokens.link?.notGranted ?? [];
  // The link that stays has not been granted this either, and its tools need not ask again.
  if (!isOther) {
    await at.tokens.describeLink(linkKey(user, at), (link) =>
      link === undefined ? undefined : { ...link, notGranted: [...new Set([...link.notGranted, ...refused])] },
    );
  }
  if (ticketId !== undefined) await deps.tickets.settle(ticketId, why);
}

/**
 * Ends what no user answered in time, one question after the other: what is not taken yet is due
 * the next time, too.
 *
 * @throws OAuthError temporarily_unavailable
 */
export async function sweepPendingTokens(deps: Pages, stopping?: AbortSignal): Promise<void> {
  const { pendingTokens, settings } = deps;
  for (const due of await pendingTokens.due()) {
    if (stopping?.aborted === true) return;
    // Only a process that still lists the vendor can revoke there.
    if (!settings.links.vendors.has(due.vendor)) continue;
    const pending = await pendingTokens.takeDue(due).catch((error: unknown) => {
      // The store or the key service is down: all of them wait.
      if (error instanceof OAuthError) throw error;
      logNotEnded(due, error, deps);
    });
    if (pending !== undefined) await endUnanswered(pending, deps);
  }
}

/** A failure is that of this question alone: its tokens were taken out of the store, and expire. */
async function endUnanswered(pending: WaitingLink, deps: Pages): Promise<void> {
  await dropPending(pending, "ended", deps).catch((error: unknown) => logNotEnded(pending, error, deps));
}

function logNotEnded({ vendor }: DueLink, error: unknown, { log }: Pick<Pages, "log">): void {
  log.warn("question_not_ended", { vendor, ...errorFields(error) });
}

/** @param replaced another account's tokens, which are then revoked */
async function store(
  { user, tokens, linkVersion }: PendingLink | Omit<PendingLink, "isOther">,
  replaced: StoredTokens | undefined,
  at: LinkDeps,
): Promise<Outcome> {
  const key = linkKey(user, at);
  const isForeignGone = await endForeignLink(user, at);
  const over = isForeignGone ? (await at.tokens.readLink(key)).linkVersion : linkVersion;
  if ((await at.tokens.link(key, tokens, over)) === "conflict") return discardLate({ user, tokens }, at);
  noteRestored(user, at);
  if (replaced !== undefined) await revokeAtVendor(replaced.tokens, at);
  return "linked";
}

/** Linked or disconnected since the page was shown: stored nowhere, and revoked. */
async function discardLate({ user, tokens }: Pick<PendingLink, "user" | "tokens">, at: LinkDeps): Promise<Outcome> {
  await discardTokens(tokens, user, at);
  return "link_changed";
}

/** Two accounts of which one is not known may be two. */
function isSameAccount(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one === other;
}
