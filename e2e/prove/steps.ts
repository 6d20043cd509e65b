/**
 * The journey: what a platform does at a vendor, step by step, and what has to come of it according
 * to the frozen facts. errors.ts has the table of errors.
 */
import { expandVendor, keptOf, withClientId } from "@oauth-broker/oauth-core/vendor-client";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import {
  accountUser,
  type Decision,
  type Entry,
  hasIdTokens,
  isRefreshable,
  isRevocable,
  LIFETIME_SECONDS,
  LONG_LIFETIME_SECONDS,
  misfits,
  namesUnknownTokens,
  SAMPLE_RESOURCE,
  SAMPLE_SCOPES,
  SUBJECT,
  takesScopes,
  userOf,
} from "@oauth-broker/simulators/entry-vendor";
import { describe, expectSame, type Stage, toPlatform, type Tokens, tokensOf, toToken } from "./stage.ts";

/** One step: it throws an Error that says what differs. */
export type Step = (stage: Stage, seen: Seen) => Promise<void>;

/** What earlier steps have left for later ones. */
export interface Seen {
  tokens?: Tokens;
  registered?: boolean;
}

const ordered = (scope: readonly string[]): readonly string[] => [...new Set(scope)].toSorted();

const connect: Step = (stage, seen) =>
  connectFor(stage, seen, { scope: sampleScopes(stage.entry), resource: SAMPLE_RESOURCE });

const connectWithDefaults: Step = (stage, seen) =>
  connectFor(stage, seen, {}, { withoutIss: stage.entry.facts.issRequired === false });

function sampleScopes(entry: Entry, hasKeys = true): readonly string[] {
  return [...SAMPLE_SCOPES, ...(hasIdTokens(entry) && hasKeys ? ["openid"] : [])];
}

/** @param asked absent: what the entry says */
async function connectFor(
  stage: Stage,
  seen: Seen,
  { scope: asked, resource }: { readonly scope?: readonly string[]; readonly resource?: string },
  decision: Decision = {},
): Promise<void> {
  const { entry, vendor } = stage;
  const { facts } = entry;
  const form = { ...(asked && { scope: asked.join(" ") }), ...(resource && { resource }) };
  const tokens = tokensOf(await toToken(stage, form, decision));
  seen.tokens = tokens;
  const { accessToken, refreshToken, body } = tokens;
  const grant = vendor.grantOf(accessToken);
  if (grant === undefined) throw new Error("the access token is none of the vendor's");
  const granted = takesScopes(facts) ? [...(asked ?? facts.defaultScopes), ...facts.offlineScopes] : SAMPLE_SCOPES;
  expectSame("the scope at the vendor", ordered(grant.scope), ordered(granted));
  const forResource = facts.resource === "send" ? (resource ?? facts.defaultResource) : undefined;
  expectSame("the resource at the vendor", grant.resource, forResource);
  const scope = typeof body["scope"] === "string" ? body["scope"].split(" ") : [];
  expectSame("the scope of the answer", ordered(scope), ordered(granted));
  expectSame("the type of the answer's token", body["token_type"], "Bearer");
  const lifetime = Number(body["expires_in"]);
  const ownLifetime = facts.longLivedToken === undefined ? LIFETIME_SECONDS : LONG_LIFETIME_SECONDS;
  const stated = facts.defaultLifetimeSeconds ?? ownLifetime;
  if (!(lifetime > stated - 10 && lifetime <= stated)) throw new Error(`expires_in is ${lifetime}, not ${stated}`);
  expectSame("that there is a refresh token", refreshToken !== undefined, isRefreshable(entry, grant.scope));
  const isLongLived = facts.longLivedToken !== undefined;
  if (isLongLived) expectSame("what renews it", refreshToken, accessToken);
  const own = isLongLived ? lifetime : facts.defaultRefreshLifetimeSeconds;
  const refreshLifetime = refreshToken === undefined ? undefined : own;
  expectSame("the lifetime of the refresh token", body["refresh_token_expires_in"], refreshLifetime);
  const hasIdToken = hasIdTokens(entry) && grant.scope.includes("openid");
  expectSame("that there is an ID token", body["vendor_id_token"] !== undefined, hasIdToken);
  const vendorData = body["vendor_data"] as Readonly<Record<string, unknown>>;
  // The callback comes by the browser: the token response decides who the user is.
  const ofTokens: readonly string[] =
    facts.identity === "unknown" || facts.identity?.from !== "token_response" ? [] : facts.identity.members;
  for (const name of facts.callbackParams) {
    const said = ofTokens.includes(name) ? userOf(name) : `${name} of the callback`;
    expectSame(`${name} in vendor_data`, vendorData[name], said);
  }
}

async function refresh(stage: Stage, seen: Seen): Promise<void> {
  const { entry, vendor, broker } = stage;
  const { accessToken, refreshToken, connection } = required(seen);
  if (refreshToken === undefined) return;
  const fresh = tokensOf(await broker.refresh({ refreshToken, connection }));
  expectSame("that the new access token is live", vendor.isLive(fresh.accessToken), true);
  expectSame("that it is a new one", fresh.accessToken !== accessToken, true);
  // A long-lived access token is its own refresh token, and a renewal is another one.
  const rotates = entry.facts.rotatesRefreshTokens === true || entry.facts.longLivedToken !== undefined;
  expectSame("that the refresh token was replaced", fresh.refreshToken !== refreshToken, rotates);
  expectSame("that the refresh token is live", vendor.isLive(fresh.refreshToken ?? ""), true);
  seen.tokens = fresh;
}

/** With the vendor client alone: a deployed server asks this, the broker mostly does not. */
async function account(stage: Stage, seen: Seen): Promise<void> {
  const { facts } = stage.entry;
  const { vendorClient } = stage.broker.deps;
  const { accessToken, body } = required(seen);
  const resolved = await resolve(stage);
  if ((facts.account ?? facts.userinfoEndpoint) !== undefined && facts.account?.host === undefined) {
    const found = await vendorClient.account(resolved, accessToken);
    if (found === undefined) throw new Error("the vendor refuses its own token at the account");
  }
  const raw = body["vendor_id_token"];
  const members = identityOf(stage, raw !== undefined);
  if (members === undefined) return;
  const idToken = typeof raw === "string" ? { raw, issuer: resolved.issuer ?? "", subject: SUBJECT } : undefined;
  const tokens = { accessToken, tokenType: "Bearer", vendorData: body["vendor_data"] as never };
  const user = await vendorClient.identify(resolved, { ...tokens, ...(idToken === undefined ? {} : { idToken }) });
  expectSame("the user", user, members.join(":"));
}

/** @returns the values that identify the user; undefined if the entry names none */
function identityOf({ entry, values }: Stage, hasIdToken: boolean): readonly string[] | undefined {
  const { identity, account, issuerTemplate } = entry.facts;
  const ofAccount = userOfAccount(entry);
  if (identity === "unknown") return ofAccount;
  if (identity?.from === "token_response") return identity.members.map(userOf);
  if (identity?.from === "id_token" && (hasIdToken || account === undefined)) {
    return identity.members.map((name) => (name === issuerTemplate?.claim ? (values["tenant"] ?? "") : userOf(name)));
  }
  return hasIdToken && account === undefined ? [SUBJECT] : ofAccount;
}

/** @returns the values that identify the user at the vendor's account; undefined without one that does */
function userOfAccount(entry: Entry): readonly string[] | undefined {
  const { account, userinfoEndpoint } = entry.facts;
  if (account !== undefined) return accountUser(entry);
  return userinfoEndpoint === undefined ? undefined : [SUBJECT];
}

async function tokenCheck(stage: Stage, seen: Seen): Promise<void> {
  const { entry, broker, client, clock } = stage;
  const { tokenCheck: check, introspectionEndpoint, account: own, identity, userinfoEndpoint } = entry.facts;
  const isStandard = introspectionEndpoint !== undefined && own === undefined && identity === undefined;
  if (check === undefined && !isStandard) return;
  const resolved = await resolve(stage);
  const { accessToken } = required(seen);
  const found = await broker.deps.vendorClient.validateAccessToken(resolved, accessToken, client.credentials);
  const user = check?.identity?.map(userOf) ?? own?.identity?.map(userOf) ?? [SUBJECT];
  if (!found.active) throw new Error(`the vendor's check says: ${found.reason}`);
  expectSame("the user of the check", found.user, user.join(":"));
  expectSame("the client of the check", found.clientId, client.atVendor.clientId);
  if (check?.expiry !== undefined) expectSame("the end of the check", found.expiresAt, clock() + LIFETIME_SECONDS);
  const scope = check?.scope === undefined ? undefined : ordered(stage.vendor.grantOf(accessToken)?.scope ?? []);
  if (scope !== undefined) expectSame("the scope of the check", ordered(found.scope ?? []), scope);
  const dead = await broker.deps.vendorClient.validateAccessToken(resolved, "a-dead-token", client.credentials);
  expectSame("that a dead token is active", dead.active, false);
  if (check === undefined && userinfoEndpoint === undefined)
    expectSame("introspected", stage.vendor.served("introspection") > 0, true);
}

/** As a deployed server does that expects no particular client. */
async function accountCheck(stage: Stage, seen: Seen): Promise<void> {
  const { account: own, tokenCheck: check, identifies } = stage.entry.facts;
  const members = userOfAccount(stage.entry);
  if (members === undefined || (check ?? own?.host ?? identifies) !== undefined) return;
  const resolved = await resolve(stage);
  const { vendorClient } = stage.broker.deps;
  const found = await vendorClient.validateAccessToken(resolved, required(seen).accessToken);
  if (!found.active) throw new Error(`the vendor's account says: ${found.reason}`);
  expectSame("the user of the account", found.user, members.join(":"));
  const dead = await vendorClient.validateAccessToken(resolved, "a-dead-token");
  expectSame("that a dead token is active", dead.active, false);
}

/** As a backend asks whether its connection is still good; then as one whose client has no secret. */
async function connectionCheck(stage: Stage, seen: Seen): Promise<void> {
  const { broker, client, entry, vendor } = stage;
  const { tokenCheck: check, introspectionEndpoint, account: own, userinfoEndpoint } = entry.facts;
  const { accessToken, connection } = required(seen);
  const ofOwn = own?.host === undefined ? "account" : "none";
  const ofAccount = own === undefined ? (userinfoEndpoint === undefined ? "none" : "userinfo") : ofOwn;
  const asked = (check ?? introspectionEndpoint) === undefined ? ofAccount : "introspection";
  const ask = async (token: string) =>
    (await broker.post("/v1/check", { access_token: token, connection, ...client.form })).body;
  const found = await ask(accessToken);
  expectSame("how the token was checked", found["checked_by"], asked);
  expectSame("that the token is active", found["active"], asked === "none" ? null : true);
  const user = check?.identity?.map(userOf).join(":");
  const { subject } = { ...(found["account"] as { readonly subject?: string } | undefined) };
  if (user !== undefined) expectSame("the account of the check", subject, user);
  const dead = await ask("a-dead-token");
  expectSame("that a dead token is active", dead["active"], asked === "none" ? null : false);
  if (own?.scopeHeader === undefined) return;
  const resolved = await resolve(stage);
  const withoutSecret = { id: "public", source: "byoc", clientId: client.atVendor.clientId } as const;
  const request = { accessToken, hosts: keptOf(resolved).checkHosts };
  const { scope = [] } = await broker.deps.vendorClient.checkAccessToken(resolved, withoutSecret, request);
  expectSame("the scope of the account", ordered(scope), ordered(vendor.grantOf(accessToken)?.scope ?? []));
}

async function resolve({ broker, client, form, values }: Stage): Promise<ResolvedVendor> {
  const config = broker.deps.vendors.get(form["vendor"] ?? "");
  if (config === undefined) throw new Error("the broker does not know the vendor");
  const named = withClientId(config.vendor, client.atVendor.clientId, config.placeholders);
  return broker.deps.vendorClient.resolve(expandVendor(named, values, config.placeholders));
}

async function revokeAccess(stage: Stage, seen: Seen): Promise<void> {
  const { accessToken, connection } = required(seen);
  await revoke(stage, "access_token", accessToken, connection);
}

async function revokeRefresh(stage: Stage, seen: Seen): Promise<void> {
  const { refreshToken, connection } = required(seen);
  // If refresh tokens are not revoked, none of any kind is sent.
  const token = refreshToken ?? (isRevocable(stage.entry, "refresh_token") ? undefined : "a-refresh-token");
  if (token !== undefined) await revoke(stage, "refresh_token", token, connection);
}

async function revoke(
  stage: Stage,
  kind: "access_token" | "refresh_token",
  token: string,
  connection: string,
): Promise<void> {
  const { entry, vendor, broker, client } = stage;
  const { facts } = entry;
  const form = { token, token_type_hint: kind, connection, ...client.form };
  const before = vendor.requestCount();
  const wasLive = vendor.isLive(token);
  const answer = await broker.post("/v1/revoke", form);
  if (!isRevocable(entry, kind)) {
    expectSame("the refusal", [answer.status, answer.body["error"]], [400, "unsupported_token_type"]);
    expectSame("that nothing was sent", vendor.requestCount(), before);
    expectSame("that the token is live", vendor.isLive(token), wasLive);
    if (facts.revocationHelp !== undefined && facts.revocationEndpoint === undefined) {
      expectSame("the help", answer.body["help"], facts.revocationHelp);
    }
    return;
  }
  const ends = facts.revocation?.ends ?? "token";
  if (answer.status !== 200) throw new Error(`the revocation ended with ${describe(answer)}`);
  expectSame("what was revoked", answer.body["revoked"], ends);
  expectSame("that the token is live", vendor.isLive(token), false);
  const again = await broker.post("/v1/revoke", form);
  const isNamed = facts.revocation !== undefined && namesUnknownTokens(facts.revocation);
  expectSame("what a second revocation says", again.body["revoked"], isNamed ? "already" : ends);
}

async function register({ entry, broker, form }: Stage, seen: Seen): Promise<void> {
  if (!isRegistering(entry)) return;
  const answer = await broker.register(form["vendor"] ?? "");
  expectSame("the status of a registration", answer.status, 201);
  seen.registered = true;
}

/** Registration comes before any tenant is known. */
function isRegistering({ facts: { registrationEndpoint } }: Entry): boolean {
  return registrationEndpoint?.includes("{") === false;
}

/** What the list of vendors says, against what the vendor has then done. */
async function offers({ entry, vendor, broker, form }: Stage, seen: Seen): Promise<void> {
  const { facts } = entry;
  const { capabilities, default_scopes: defaultScopes } = await broker.view(form["vendor"] ?? "");
  const said = capabilities as Readonly<Record<string, unknown>>;
  expectSame("pkce in /v1/vendors", said["pkce"], facts.pkce);
  expectSame("refresh in /v1/vendors", said["refresh"], facts.issuesRefreshTokens !== false);
  expectSame("revocation in /v1/vendors", said["revocation"], vendor.served("revocation") > 0);
  expectSame("dcr in /v1/vendors", said["dcr"], isRegistering(entry));
  expectSame("a registration", seen.registered === true, isRegistering(entry));
  expectSame("oidc in /v1/vendors", said["oidc"], hasIdTokens(entry));
  expectSame("default_scopes in /v1/vendors", defaultScopes, facts.defaultScopes);
}

async function refuseOtherTenants(stage: Stage): Promise<void> {
  const { entry, values, vendor, broker } = stage;
  for (const { placeholder, value, why } of misfits(entry)) {
    const before = vendor.requestCount();
    const placeholders = JSON.stringify({ ...values, [placeholder]: value });
    const pushed = await broker.par({ ...stage.form, placeholders });
    const isNamed = String(pushed.body["error_description"]).includes(placeholder);
    expectSame(`the refusal of ${placeholder} ${why}`, [pushed.status, isNamed], [400, true]);
    expectSame("that nothing was sent", vendor.requestCount(), before);
  }
}

async function cancel(stage: Stage): Promise<void> {
  const end = await toPlatform(stage, {}, { error: "access_denied" });
  expectSame("the error of a cancel", end.searchParams.get("error"), "access_denied");
  for (const [code, meaning] of Object.entries(stage.entry.facts.callbackErrors)) {
    const { searchParams } = await toPlatform(stage, {}, { error: code });
    const [expected, reason] = typeof meaning === "string" ? [meaning, undefined] : [meaning.code, meaning.reason];
    expectSame(`the error ${code}`, searchParams.get("error"), expected);
    if (reason !== undefined) expectSame(`the reason of ${code}`, searchParams.get("reason"), reason);
  }
}

function required({ tokens }: Seen): Tokens {
  if (tokens === undefined) throw new Error("there are no tokens");
  return tokens;
}

/** In order: a later step plays on the tokens of an earlier one. */
export const STEPS: readonly (readonly [name: string, step: Step])[] = [
  ["connect", connect],
  ["refresh", refresh],
  ["account", account],
  ["token check", tokenCheck],
  ["account check", accountCheck],
  ["check of the connection", connectionCheck],
  ["revoke the access token", revokeAccess],
  ["connect with the entry's scopes", connectWithDefaults],
  ["refresh again", refresh],
  ["revoke the refresh token", revokeRefresh],
  ["register", register],
  ["offers", offers],
  ["other tenants", refuseOtherTenants],
  ["cancel", cancel],
];

/**
 * Uses each endpoint of a vendor whose addresses are others than before.
 *
 * @param hasKeys the address of the keys of ID tokens is known
 */
export async function useEachEndpoint(stage: Stage, seen: Seen, hasKeys: boolean): Promise<void> {
  await connectFor(stage, seen, { scope: sampleScopes(stage.entry, hasKeys) });
  for (const step of [refresh, account, tokenCheck, accountCheck, revokeAccess, revokeRefresh, register]) {
    await step(stage, seen);
  }
}
