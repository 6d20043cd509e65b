/**
 * `/connections`: what the signed-in user has linked, and the buttons that change it. Every change
 * is over the link version that the page showed.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { type Answer, redirectAnswer } from "@oauth-broker/oauth-core/http";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import {
  createBindingCookie,
  formToken,
  isFormToken,
  readBindingCookie,
  setBindingCookie,
} from "@oauth-broker/oauth-core/authorization-server";
import type { Trace } from "@oauth-broker/service/http";
import { PATHS } from "../../resource/paths.ts";
import { atVendor, endLinkOver, isUsable, linkKey, linkScope } from "../links/link.ts";
import type { PagesDeps } from "./deps.ts";
import { formCsrf, requireShown, shownVersion } from "./form-token.ts";
import { answerOutcome, connectionsUrl, startLink, startSignIn, withCookies } from "./flows.ts";
import {
  connectionsPage,
  type Disconnected,
  isAtVendor,
  type ShownConnection,
  signInPage,
  type Visitor,
} from "./markup.ts";
import type { SignedIn } from "./sign-ins.ts";
import { dropPending, replaceLink, type WantedLink } from "./store-link.ts";

/** The page after *Sign out*: without it the vendor would sign the browser in again at once. */
const SIGNED_OUT = "signed_out";

const LINK_CHANGED = connectionsUrl({ error: "link_changed" });

/** A form of the browser: no user is known yet. */
const SIGN_IN_FORM = "connections";

/** @param query chooses the message of the page and nothing else: what it does not know is ignored */
export async function showConnections(
  query: URLSearchParams,
  cookieHeader: string | undefined,
  deps: PagesDeps,
): Promise<Answer> {
  const signedIn = await deps.signIns.read(cookieHeader);
  if (signedIn === undefined) {
    return askToSignIn({ isSignedOut: query.has(SIGNED_OUT) }, cookieHeader, deps);
  }
  const listed = [...deps.settings.links.vendors.keys()];
  const connections = await Promise.all(listed.map((vendor) => connectionOf(vendor, signedIn, deps)));
  const linked = onlyOf(query, "linked");
  const missing = connections.filter(({ state }) => state === "missing").map(({ vendor }) => vendor);
  return connectionsPage({
    visitor: await visitorOf(signedIn, deps),
    connections,
    disconnected: await disconnectedOf(query, missing, signedIn, deps),
    // Anyone can send a browser here with any id: the page says what is so.
    linked: connections.find(({ vendor, state }) => vendor === linked && state === "usable")?.name,
    error: onlyOf(query, "error"),
  });
}

/** A page, so that no link of another site leads a browser through the vendor without a word. */
function askToSignIn(
  { isSignedOut }: { readonly isSignedOut: boolean },
  cookieHeader: string | undefined,
  { settings: { deploymentUrl, vendor }, presentation }: PagesDeps,
): Answer {
  const cookie = readBindingCookie(cookieHeader, deploymentUrl, SIGN_IN_FORM) ?? createBindingCookie();
  const page = {
    presentation,
    isSignedOut,
    signInName: vendor.vendor.name,
    serverHost: new URL(deploymentUrl).host,
    csrf: formToken(SIGN_IN_FORM, cookie),
  };
  return signInPage(page, setBindingCookie(deploymentUrl, SIGN_IN_FORM, cookie.value));
}

/** From a form that was not shown in this browser, or of one that is not signed in any more: to the page. */
async function signIn(
  form: Parameters,
  cookieHeader: string | undefined,
  deps: PagesDeps,
  trace: Trace,
): Promise<Answer> {
  const cookie = readBindingCookie(cookieHeader, deps.settings.deploymentUrl, SIGN_IN_FORM);
  const isSignIn = form.get("action") === "sign_in" && cookie !== undefined;
  //= bar#AS-7
  if (!isSignIn || !isFormToken(form.get("csrf"), SIGN_IN_FORM, cookie)) return redirectAnswer(PATHS.connections);
  return startSignIn(PATHS.connections, {}, deps, trace);
}

/** Two of a kind say nothing. */
function onlyOf(query: URLSearchParams, name: string): string {
  const [value = "", ...further] = query.getAll(name);
  return further.length === 0 ? value : "";
}

/** What a disconnect did, in the URL to which its answer leads. Its proof is of this user, so that no other page says it. */
async function disconnectedUrl(
  listed: string,
  atVendor: Disconnected["atVendor"],
  user: string,
  deps: PagesDeps,
): Promise<string> {
  const proof = await formCsrf(user, ["disconnected", listed, atVendor], 0, deps);
  return connectionsUrl({ disconnected: listed, at_vendor: atVendor, proof });
}

/** @param missing the vendors without a link: what is connected again is not called disconnected */
async function disconnectedOf(
  query: URLSearchParams,
  missing: readonly string[],
  { user }: SignedIn,
  deps: PagesDeps,
): Promise<Disconnected | undefined> {
  const [listed, atVendor] = [onlyOf(query, "disconnected"), onlyOf(query, "at_vendor")];
  const vendor = deps.settings.links.vendors.get(listed)?.vendor;
  if (vendor === undefined || !missing.includes(listed) || !isAtVendor(atVendor)) return undefined;
  const proven = await shownVersion(onlyOf(query, "proof"), user, ["disconnected", listed, atVendor], deps);
  return proven === undefined ? undefined : { name: vendor.name, atVendor, help: vendor.revocationHelp };
}

/** @throws OAuthError for the 400 page of a form that was not shown to this user */
export async function changeConnections(
  form: Parameters,
  cookieHeader: string | undefined,
  deps: PagesDeps,
  trace: Trace,
): Promise<Answer | Response> {
  const signedIn = await deps.signIns.read(cookieHeader);
  if (signedIn === undefined) return signIn(form, cookieHeader, deps, trace);
  const action = form.require("action");
  if (action === "sign_out") return signOut(form, signedIn, deps, trace);
  // In another tab it was done.
  if (action === "sign_in") return redirectAnswer(PATHS.connections);
  const listed = form.require("vendor");
  if (!deps.settings.links.vendors.has(listed))
    throw new OAuthError("invalid_request", "This vendor is not offered here");
  trace.vendor = listed;
  switch (action) {
    case "connect":
    case "reconnect":
    case "disconnect": {
      const { user } = signedIn;
      const linkVersion = await requireShown(form, user, ["connection", listed], deps, trace);
      if (action === "disconnect") return disconnect({ user, listed, linkVersion }, deps);
      const scopes = await scopesToAsk(user, listed, { isReconnect: action === "reconnect" }, deps);
      return startLink({ user, listed, scopes, linkVersion }, deps, trace);
    }
    case "replace":
    case "keep":
      return decidePending(form, listed, { isYes: action === "replace" }, signedIn, deps, trace);
    default:
      throw new OAuthError("invalid_request", "action must be one of those on the page");
  }
}

/** Who is at the browser, for any page. */
export async function visitorOf({ user, label }: SignedIn, deps: PagesDeps): Promise<Visitor> {
  const { settings } = deps;
  return {
    label,
    signInName: settings.vendor.vendor.name,
    signOutCsrf: await formCsrf(user, ["sign_out"], 0, deps),
    serverHost: new URL(settings.deploymentUrl).host,
    presentation: deps.presentation,
  };
}

async function connectionOf(listed: string, { user, cookie }: SignedIn, deps: PagesDeps): Promise<ShownConnection> {
  const at = atVendor(listed, deps);
  const { stored, linkVersion } = await deps.tokens.readLink(linkKey(user, at));
  const linked = typeof stored === "object" ? stored : undefined;
  const { link, refreshExpiresAt } = linked?.tokens ?? {};
  const waiting = await deps.pendingTokens.find(listed, cookie.hash);
  const asked = waiting?.user === user ? waiting : undefined;
  return {
    vendor: listed,
    name: at.settings.vendor.vendor.name,
    state: typeof stored === "object" ? (isUsable(stored, at) ? "usable" : "dead") : stored,
    account: link?.label?.reveal() ?? link?.account,
    scopes: (linked === undefined ? undefined : linkScope(linked)) ?? [],
    since: linked === undefined ? undefined : dayOf(link?.linkedAt ?? linked.writtenAt),
    until: refreshExpiresAt === undefined ? undefined : dayOf(refreshExpiresAt),
    csrf: await formCsrf(user, ["connection", listed], linkVersion, deps),
    pending:
      asked === undefined
        ? undefined
        : {
            isOther: asked.isOther,
            account: asked.tokens.link?.label?.reveal() ?? asked.tokens.link?.account,
            scopes: linkScope(asked) ?? [],
            csrf: await formCsrf(user, ["question", listed, asked.id], 0, deps),
          },
  };
}

function dayOf(at: number): string {
  return new Date(at * 1000).toISOString().slice(0, 10);
}

async function scopesToAsk(
  user: string,
  listed: string,
  { isReconnect }: { readonly isReconnect: boolean },
  deps: PagesDeps,
): Promise<readonly string[]> {
  const at = atVendor(listed, deps);
  const { scopes: all } = at.settings.vendor;
  const { stored } = await deps.tokens.readLink(linkKey(user, at));
  const linked = typeof stored === "object" ? linkScope(stored) : undefined;
  if (!isReconnect || typeof stored !== "object" || linked === undefined) return all;
  // What the link has, and what was refused before: reconnecting is how a user changes their mind.
  const again = [...linked, ...(stored.tokens.link?.notGranted ?? [])];
  const wanted = all.filter((scope) => again.includes(scope));
  return wanted.length > 0 ? wanted : all;
}

async function disconnect({ user, listed, linkVersion }: WantedLink, deps: PagesDeps): Promise<Answer> {
  const at = atVendor(listed, deps);
  const ended = await endLinkOver(linkKey(user, at), linkVersion, at);
  return redirectAnswer(
    ended === undefined ? LINK_CHANGED : await disconnectedUrl(listed, ended.vendor ?? "nothing", user, deps),
  );
}

async function decidePending(
  form: Parameters,
  listed: string,
  { isYes }: { readonly isYes: boolean },
  { user, cookie }: SignedIn,
  deps: PagesDeps,
  trace: Trace,
): Promise<Answer> {
  const pending = await deps.pendingTokens.find(listed, cookie.hash);
  // Answered in another tab, or too late: nothing waits any more.
  if (pending === undefined || pending.user !== user) return redirectAnswer(LINK_CHANGED);
  await requireShown(form, user, ["question", listed, pending.id], deps, trace);
  if (!(await deps.pendingTokens.take(pending.id, cookie.hash))) return redirectAnswer(LINK_CHANGED);
  if (!isYes) {
    await dropPending(pending, "denied", deps);
    return redirectAnswer(PATHS.connections);
  }
  return answerOutcome(await replaceLink(pending, deps), { listed, ...pending }, deps);
}

/** With a ticket the user signs in again, at once and by choice of the account. */
async function signOut(
  form: Parameters,
  signedIn: SignedIn,
  deps: PagesDeps,
  trace: Trace,
): Promise<Answer | Response> {
  await requireShown(form, signedIn.user, ["sign_out"], deps, trace);
  const cookie = await deps.signIns.end(signedIn);
  const ticket = /^[A-Za-z0-9_-]{43}$/.exec(form.get("ticket") ?? "")?.[0];
  const next =
    ticket === undefined
      ? redirectAnswer(connectionsUrl({ [SIGNED_OUT]: "true" }))
      : await startSignIn(`${PATHS.connect}/${ticket}`, { anotherAccount: true }, deps, trace);
  return withCookies(next, [cookie]);
}
