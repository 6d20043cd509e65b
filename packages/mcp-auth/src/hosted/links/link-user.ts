/**
 * Turns the vendor's fresh tokens of a sign-in at the MCP client into a session: identifies the user,
 * stores the user's link, and issues our tokens to the client. The vendor's code is spent by now, so
 * any failure here means starting the flow again, and tokens that could not be stored are revoked at
 * the vendor.
 */
import { defined, OAuthError, toOAuthError, withRestart, Secret } from "@oauth-broker/oauth-core";
import type { ResolvedVendor, VendorTokens } from "@oauth-broker/oauth-core/registry";
import {
  type LinkDetails,
  type StoredTokens,
  type TokenKey,
  type TokenSet,
  TokenStoreError,
} from "@oauth-broker/token-store";
import type { HostedClient } from "../clients/client.ts";
import type { HostedDeps } from "../deps.ts";
import {
  accountLabel,
  discardTokens,
  endForeignLink,
  type LinkDeps,
  linkKey,
  noteRestored,
  outlasts,
  revokeAtVendor,
  tokenSetOf,
} from "./link.ts";

/** The scope the vendor reports. RFC 6749 §5.1 lets it be absent when it is the requested one. */
//= rfc6749#5.1
export function grantedScope({ scope }: VendorTokens, requestedScope: readonly string[]): readonly string[] {
  return scope === undefined || scope.length === 0 ? requestedScope : scope;
}

/** The tokens of one sign-in. */
export interface NewLink {
  readonly tokens: VendorTokens;
  readonly vendor: ResolvedVendor;
  /** As granted. */
  readonly scope: readonly string[];
  /**
   * When the user approved the flow, the first millisecond that it can have been. Absent: an end of
   * the link counts as later.
   */
  readonly startedAtMilliseconds?: number;
}

/** Another writer may change the link between a read and the write over it, but not every time. */
const MAX_TRIES = 8;

export interface Redeemed extends Omit<NewLink, "scope"> {
  /** The scope that was requested. */
  readonly requestedScope: readonly string[];
  /** With `VENDORS`: the session's scope, as the consent page showed it. */
  readonly consented?: readonly string[];
}

/** @throws OAuthError as linkUser; temporarily_unavailable with `retry: "restart"` */
export async function openSession(
  { requestedScope, consented, ...redeemed }: Redeemed,
  { clientId }: Pick<HostedClient, "clientId">,
  deps: HostedDeps,
): ReturnType<HostedDeps["sessions"]["start"]> {
  const scope = grantedScope(redeemed.tokens, requestedScope);
  const user = await linkUser({ ...redeemed, scope }, deps);
  return deps.sessions.start({ user, clientId, scope, ...defined({ consented }) }).catch((thrown: unknown) => {
    // The link is stored, but the code is spent: only a new flow can produce a session.
    throw withRestart(toOAuthError(thrown));
  });
}

/**
 * @returns the user's stable identity at the vendor
 * @throws OAuthError temporarily_unavailable with `retry: "restart"`; vendor_response_invalid when
 *   the vendor does not identify the user, or its tokens are larger than the store accepts
 */
async function linkUser(granted: NewLink, deps: LinkDeps): Promise<string> {
  const { tokens, vendor, scope } = granted;
  const set = tokenSetOf({ ...tokens, scope }, deps);
  let user: string | undefined;
  try {
    user = await deps.vendorClient.identify(vendor, tokens);
    const key = linkKey(user, deps);
    await endForeignLink(user, deps);
    if (key.signIn === undefined) {
      if (!outlasts(await readable(key, deps), scope, deps)) await deps.tokens.put(key, set);
    } else {
      await storeOverVersion(key, granted, set, deps);
    }
    noteRestored(user, deps);
    return user;
  } catch (thrown) {
    // Not awaited: its failure changes nothing.
    void endUnstored(set, user, deps);
    throw withRestart(toStorageError(thrown));
  }
}

/**
 * Revokes tokens that were not stored. If the user is not known, or the store does not respond,
 * they are revoked without checking for a link.
 */
async function endUnstored(set: TokenSet, user: string | undefined, deps: LinkDeps): Promise<void> {
  try {
    if (user !== undefined) return await discardTokens(set, user, deps);
  } catch {
    // The store that did not take the tokens did not say what it has.
  }
  await revokeAtVendor(set, deps);
}

/**
 * With several vendors a user may end their link while they sign in. Who they are was not known
 * when the flow began, so that the times are compared: at the same time the end is the later one.
 * The user is signed in all the same, without a link.
 */
async function storeOverVersion(key: TokenKey, granted: NewLink, set: TokenSet, deps: LinkDeps): Promise<void> {
  const { user } = key;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { linkVersion, stored, endedAtMilliseconds } = await deps.tokens.readLink(key);
    //= bar#LK-9
    if (endedAtMilliseconds !== undefined && endedAtMilliseconds >= (granted.startedAtMilliseconds ?? 0)) {
      await discardTokens(set, user, deps);
      return;
    }
    const present = typeof stored === "object" ? stored : undefined;
    if (outlasts(present, granted.scope, deps)) return;
    const link = await describeNew(granted, user, present?.tokens.link, deps);
    if ((await deps.tokens.link(key, { ...set, link }, linkVersion)) !== "conflict") return;
  }
  throw new OAuthError("temporarily_unavailable", "The link cannot be stored now", { reason: "record_in_use" });
}

/**
 * What is stored about a link that is made now.
 *
 * @param before what was refused: it stays refused unless it is granted now
 */
export async function describeNew(
  { tokens, vendor, scope }: Pick<NewLink, "tokens" | "vendor" | "scope">,
  account: string | undefined,
  { notGranted = [], lacked = {} }: Partial<Pick<LinkDetails, "notGranted" | "lacked">> = {},
  deps: LinkDeps,
): Promise<LinkDetails> {
  const label = Secret.of(await accountLabel(vendor, tokens, deps));
  const refused = new Set(notGranted.filter((token) => !scope.includes(token)));
  return { ...defined({ account, label }), linkedAt: deps.now(), notGranted: [...refused], lacked };
}

/** A link that cannot be read counts as absent: the new tokens replace it. */
async function readable(key: TokenKey, { tokens }: Pick<LinkDeps, "tokens">): Promise<StoredTokens | undefined> {
  return tokens.get(key).catch((error: unknown) => {
    if (error instanceof OAuthError && error.extras.reason === "token_unreadable") return undefined;
    throw error;
  });
}

/** What the store refuses to hold is the vendor's fault. */
export function toStorageError(thrown: unknown): OAuthError {
  if (!(thrown instanceof TokenStoreError)) return toOAuthError(thrown);
  return new OAuthError("vendor_response_invalid", "The vendor's tokens cannot be stored", {
    reason: thrown.code,
    cause: thrown,
  });
}
