/**
 * A user's link to the vendor: the tokens stored for them, their scope, how they are refreshed, and
 * how the link ends. Independent of sessions: many clients may act for one user, over one link.
 */
import { defined, type JsonObject, type JsonValue, OAuthError, Secret } from "@oauth-broker/oauth-core";
import { idTokenSubject, parseIdToken, type VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { formatScope } from "@oauth-broker/oauth-core/protocol";
import type { ResolvedVendor, VendorTokens } from "@oauth-broker/oauth-core/registry";
import type { Refresh, RefreshOptions, StoredTokens, TokenKey, TokenSet } from "@oauth-broker/token-store";
import type { HostedSettings } from "../../settings.ts";
import type { HostedDeps } from "../deps.ts";
import { identitySource } from "../records/identity-source.ts";

/** `vendor` of the settings is that of the link. */
export interface LinkDeps extends Pick<HostedDeps, "tokens" | "vendorClient" | "now" | "events"> {
  readonly settings: Pick<HostedSettings, "vendor" | "links">;
}

/**
 * The key of a user's tokens, bound to the source of the identity. With one vendor that is
 * the vendor itself, and the row does not name it.
 */
export function linkKey(user: string, { settings }: Pick<LinkDeps, "settings">): TokenKey {
  return { user, ...identitySource(settings), ...defined({ signIn: settings.links.signInOfKeys() }) };
}

/**
 * The same dependencies for the links at one of the vendors.
 *
 * @param id as `VENDORS` lists it
 * @throws TypeError for any other
 */
export function atVendor<Deps extends Pick<LinkDeps, "settings">>(
  id: string,
  deps: Deps,
): Omit<Deps, "settings"> & Pick<LinkDeps, "settings"> {
  const { links } = deps.settings;
  const vendor = links.vendors.get(id);
  if (vendor === undefined) throw new TypeError("a link is at one of the vendors that are listed");
  return { ...deps, settings: { vendor, links } };
}

/**
 * The scope of a link, as the vendor reported it or as it was requested.
 *
 * @returns undefined when an earlier release did not store it
 */
export function linkScope({ tokens: { scope } }: Pick<StoredTokens, "tokens">): readonly string[] | undefined {
  return scope?.split(" ").filter((token) => token !== "");
}

/** @param tokens issued just now */
export function tokenSetOf(tokens: VendorTokens, { settings, now }: Pick<LinkDeps, "settings" | "now">): TokenSet {
  const at = now();
  const { accessToken, refreshToken, idToken, tokenType, scope, expiresInSeconds, vendorData } = tokens;
  const { refreshExpiresInSeconds } = tokens;
  return {
    accessToken: new Secret(accessToken),
    tokenType,
    clientId: settings.vendor.credentials.clientId,
    ...defined({ refreshToken: Secret.of(refreshToken), idToken: Secret.of(idToken?.raw) }),
    ...(scope === undefined || scope.length === 0 ? {} : { scope: formatScope(scope) }),
    ...(expiresInSeconds === undefined ? {} : { expiresAt: at + expiresInSeconds }),
    ...(refreshExpiresInSeconds === undefined ? {} : { refreshExpiresAt: at + refreshExpiresInSeconds }),
    // A refresh response does not repeat the members of the first: those are carried over.
    ...(Object.keys(vendorData).length === 0 ? {} : { vendorData: new Secret(JSON.stringify(vendorData)) }),
  };
}

const CLIENT_CHANGED = { reason: "client_changed" };

/**
 * Whether they were issued to the client that is configured now: the vendor takes another's for
 * dead, or for stolen. Those of an earlier release do not say.
 */
function isOwnClient(clientId: string | undefined, { settings: { vendor } }: Pick<LinkDeps, "settings">): boolean {
  return clientId === undefined || clientId === vendor.credentials.clientId;
}

/**
 * The user's tokens, ready for use: refreshed first when they are near their end, by one caller
 * over all processes.
 *
 * @param options.refused the version whose access token the vendor refused
 * @returns undefined when the user has no link
 * @throws OAuthError invalid_grant when the user must authorize again; what
 *   VendorClient.refreshTokens throws
 */
export async function freshTokens(
  user: string,
  deps: LinkDeps,
  options: Pick<RefreshOptions, "refused"> = {},
): Promise<StoredTokens | undefined> {
  const { tokens, vendorClient, settings } = deps;
  const { vendor: entry, credentials } = settings.vendor;
  const refresh: Refresh = async ({ refreshToken, idToken, clientId }, { signal }) => {
    // The grant lives: the operator may configure the client again. A token that the vendor refused is over.
    const code = options.refused === undefined ? "vendor_credentials_rejected" : "invalid_grant";
    //= bar#BY-4
    if (!isOwnClient(clientId, deps)) throw new OAuthError(code, "Another client is configured", CLIENT_CHANGED);
    const vendor = await vendorClient.resolve(entry);
    const expected = idToken === undefined ? {} : { expected: idTokenSubject(idToken.reveal(), vendor) };
    const request = { refreshToken: refreshToken.reveal(), signal, ...expected };
    return tokenSetOf(await vendorClient.refreshTokens(vendor, credentials, request), deps);
  };
  // Tokens that came too late for a link that has ended in the meantime.
  const discard = (late: TokenSet): Promise<void> => discardTokens(late, user, deps);
  try {
    return await tokens.withRefreshLease(linkKey(user, deps), refresh, { ...options, discard });
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    // Not awaited: the user waits for nothing but the answer.
    if (error.code === "invalid_grant") void noteDead(user, deps);
    if (error.extras.reason !== CLIENT_CHANGED.reason) throw error;
    throw new OAuthError("invalid_grant", "The user must authorize again", CLIENT_CHANGED);
  }
}

/** At every use of a dead link, so that what one process noted and lost is noted by the next. */
async function noteDead(user: string, deps: LinkDeps): Promise<void> {
  if (deps.events === undefined) return;
  const key = linkKey(user, deps);
  // A store that is down now is asked again at the next use.
  const read = await deps.tokens.readLink(key).catch(() => undefined);
  if (typeof read?.stored !== "object" || read.stored.status !== "reauthorize") return;
  const { tokens, version, writtenAt } = read.stored;
  const reason = tokens.refreshToken === undefined ? "no_refresh_token" : "refused";
  const grant = `${version}.${writtenAt}`;
  deps.events.note({ type: "link.dead", user, vendor: key.vendor, reason, grant });
}

/** The user has authorized again. */
export function noteRestored(user: string, { events, settings }: Pick<LinkDeps, "events" | "settings">): void {
  events?.note({ type: "link.restored", user, vendor: settings.vendor.vendor.id });
}

/**
 * Whether a link is kept when its user signs in again. All sessions of a user share one link, and a
 * vendor token with fewer scopes would take from the others what they were granted. The new tokens
 * are then dropped, and not revoked: at many vendors that ends the whole grant.
 *
 * @param present the current link, if there is one that can be read
 * @param granted the scope of the new tokens
 * @returns whether the new tokens permit less, and nothing that the present ones do not
 */
export function outlasts(
  present: StoredTokens | undefined,
  granted: readonly string[],
  deps: Pick<LinkDeps, "settings" | "now">,
): boolean {
  if (present === undefined) return false;
  const scope = linkScope(present) ?? [];
  const isWithin = granted.every((token) => scope.includes(token));
  return isWithin && losesScope(present, granted, deps) && isOwnClient(present.tokens.clientId, deps);
}

/**
 * Whether tokens with this scope permit less than the link. A dead link has nothing to lose, and a
 * scope that is no longer configured does not count as lost.
 */
export function losesScope(
  present: StoredTokens,
  granted: readonly string[],
  deps: Pick<LinkDeps, "settings" | "now">,
): boolean {
  const { scopes } = deps.settings.vendor;
  const lost = linkScope(present)?.find((token) => scopes.includes(token) && !granted.includes(token));
  return lost !== undefined && isUsable(present, deps);
}

/** Whether a link can give a token: active, and fresh or to be refreshed. */
export function isUsable({ status, tokens }: StoredTokens, deps: Pick<LinkDeps, "settings" | "now">): boolean {
  const { refreshToken, expiresAt = Infinity } = tokens;
  return (
    status === "active" &&
    ((refreshToken !== undefined && isOwnClient(tokens.clientId, deps)) || expiresAt > deps.now())
  );
}

/** The vendor's result; `unsupported`: it has no way to revoke, `failed`: it could not now. */
export type VendorRevocation = "token" | "grant" | "already" | "unsupported" | "failed";

export interface EndedLink {
  /** Absent when there was nothing to revoke: no link, or one that cannot be read. */
  readonly vendor?: VendorRevocation;
}

/**
 * Ends a user's link: at once here, then at the vendor as far as possible, then the record is
 * removed. The caller ends the sessions.
 *
 * @throws OAuthError temporarily_unavailable when the store does not respond
 */
//= bar#RV-1
export async function endLink(user: string, deps: LinkDeps): Promise<EndedLink> {
  return (await endLinkOver(linkKey(user, deps), undefined, deps)) ?? {};
}

/**
 * The same, over what the user was shown. With several vendors what began before the end stores
 * nothing.
 *
 * @param key also that of a link made under another sign-in
 * @param over the link version that the user was shown; undefined: any
 * @returns undefined over another version
 */
//= bar#RV-1
export async function endLinkOver(
  key: TokenKey,
  over: number | undefined,
  deps: LinkDeps,
): Promise<EndedLink | undefined> {
  const ended = await deps.tokens.endLink(key, over);
  if (ended === "conflict") return undefined;
  const vendor = ended === undefined ? undefined : await revokeAtVendor(ended.tokens, deps);
  await deps.tokens.forgetLink(key);
  return vendor === undefined ? {} : { vendor };
}

/**
 * Ends what another person with the same identity at another sign-in vendor had linked in this
 * place: it is never overwritten before it is revoked.
 */
export async function endForeignLink(user: string, deps: LinkDeps): Promise<boolean> {
  const key = linkKey(user, deps);
  if (key.signIn === undefined) return false;
  for await (const link of deps.tokens.links(user, key.signIn)) {
    if (link.vendor !== key.vendor || link.foreign !== true) continue;
    const { vendor, issuer } = key;
    await endLinkOver({ ...key, signIn: link.signIn ?? { vendor, issuer } }, undefined, deps);
    return true;
  }
  return false;
}

/** Best effort: the result says what happened. */
export async function revokeAtVendor(
  { refreshToken, accessToken, clientId }: Pick<TokenSet, "refreshToken" | "accessToken" | "clientId">,
  { vendorClient, settings }: Pick<LinkDeps, "vendorClient" | "settings">,
): Promise<VendorRevocation> {
  const { vendor: entry, credentials } = settings.vendor;
  // The vendor does not know it as ours, and may say that it is gone.
  if (!isOwnClient(clientId, { settings })) return "failed";
  try {
    const vendor = await vendorClient.resolve(entry);
    const tokens = { accessToken: accessToken.reveal(), refreshToken: refreshToken?.reveal() };
    return await vendorClient.revokeGrant(vendor, credentials, tokens);
  } catch (error) {
    const isUnsupported = error instanceof OAuthError && error.code === "unsupported_token_type";
    return isUnsupported ? "unsupported" : "failed";
  }
}

/**
 * Revokes tokens that are stored nowhere. If the user has a link that may be of the same account
 * it is done only at a vendor whose entry says that a revocation ends one token: RFC 7009 §2.1 lets
 * it end the whole grant, and with it the link. The tokens then expire.
 */
export async function discardTokens(tokens: TokenSet, user: string, deps: LinkDeps): Promise<void> {
  if (deps.settings.vendor.vendor.revocation?.ends !== "token") {
    const { stored } = await deps.tokens.readLink(linkKey(user, deps));
    const linked = typeof stored === "object" ? stored : undefined;
    const [account, present] = [tokens.link?.account, linked?.tokens.link?.account];
    const isAnother = account !== undefined && present !== undefined && present !== account;
    if (linked !== undefined && !isAnother) return;
  }
  await revokeAtVendor(tokens, deps);
}

/** In the order of preference; an identity alone says nothing to its user. */
const LABEL_MEMBERS = [
  "email",
  "preferred_username",
  "login",
  "username",
  "userPrincipalName",
  "user",
  "displayName",
  "name",
] as const;
const LONGEST_LABEL = 200;

/**
 * What a linked account is called on our pages. Best effort: the ID token, else the vendor's
 * account of the user.
 *
 * @returns undefined when neither says anything a user would recognise
 */
export async function accountLabel(
  vendor: ResolvedVendor,
  { accessToken, idToken }: VendorTokens,
  { vendorClient }: { readonly vendorClient: Pick<VendorClient, "account"> },
): Promise<string | undefined> {
  const own = idToken === undefined ? undefined : labelIn(parseIdToken(idToken.raw).claims);
  if (own !== undefined) return own;
  const account = await vendorClient.account(vendor, accessToken, idToken?.subject).catch(() => undefined);
  return account === undefined ? undefined : labelIn(account);
}

function labelIn(members: JsonObject): string | undefined {
  return LABEL_MEMBERS.map((name) => textOf(members[name])).find((label) => label !== undefined);
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.toWellFormed().slice(0, LONGEST_LABEL) : undefined;
}
