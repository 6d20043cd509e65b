/**
 * The flows of the pages: `sign_in` at the sign-in vendor, which only names the user, and `link` at
 * any of the vendors. Both end at the callback, in the browser in which they began. The record says
 * purpose, vendor and path; a redirect that differs in one of them is refused.
 */
import { defined, OAuthError, toOAuthError } from "@oauth-broker/oauth-core";
import {
  type BrokeredCode,
  type CallbackRequest,
  createBrokeredCode,
  type FlowPolicy,
  type FlowRecord,
  type FlowVendor,
  HANDLE_STATE,
  type Redeemed,
} from "@oauth-broker/oauth-core/brokered-code";
import { hasIdTokens } from "@oauth-broker/oauth-core/vendor-client";
import { type Answer, redirectAnswer } from "@oauth-broker/oauth-core/http";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import { clearBindingCookie, createBindingCookie, createFlowId } from "@oauth-broker/oauth-core/authorization-server";
import type { Trace } from "@oauth-broker/service/http";
import { deriveKey, open, seal } from "@oauth-broker/token-store";
import type { VendorSettings } from "../../settings.ts";
import { callbackPath, PATHS } from "../../resource/paths.ts";
import { refusePage } from "../authorization/refusal.ts";
import { identityScopes, withOwed } from "../link-policy/scope.ts";
import { accountLabel, atVendor, discardTokens, tokenSetOf } from "../links/link.ts";
import { identitySource, isSameSource } from "../records/identity-source.ts";
import { vendorSecrets } from "../authorization/vendor-secrets.ts";
import type { PagesDeps } from "./deps.ts";
import { isOfUser } from "./sign-ins.ts";
import { type Outcome, takeTokens, type WantedLink } from "./store-link.ts";

/** Begins the flow id, and so the `state`, of these flows: `/callback` has those of clients too. */
const FLOW_PREFIX = "link";

interface LinkingFlow extends FlowRecord {
  readonly v: 1;
  /** The vendor as `VENDORS` lists it; `vendor` is as in the token rows. */
  readonly listed: string;
  readonly issuer: string;
  /** The sign-in vendor when the flow began. */
  readonly signIn: string;
  readonly signInIssuer: string;
  /** In a sign-in: the next URL for the browser, under a key derived from the server key. */
  readonly sealedReturn?: string;
  /** In a link: whose. */
  readonly user?: string;
  readonly linkVersion?: number;
  readonly ticketId?: string;
}

/** What the browser sends to the callback; absent when a flow begins. */
interface Visit {
  readonly cookieHeader: string | undefined;
  /** Set-Cookie headers in addition to the flow's own. */
  readonly cookies: string[];
  /** The flow, once it is known to be this browser's. */
  flow?: LinkingFlow;
  /** Whether the redirect was refused: the user sees why, on a separate page. */
  isRefused: boolean;
}

/** @param back the next URL for the browser: one of our paths */
export async function startSignIn(
  back: string,
  { anotherAccount = false }: { readonly anotherAccount?: boolean },
  deps: PagesDeps,
  trace: Trace,
): Promise<Answer> {
  const { settings } = deps;
  const { signIn } = settings.links;
  const flowId = createFlowId(FLOW_PREFIX);
  const vendor = await vendorAt(signIn, deps);
  // So that the vendor does not sign in the same account again. `login` is every OpenID provider's.
  const prompt = settings.vendor.vendor.choosesAccount === true ? "select_account" : "login";
  const flow: LinkingFlow = {
    ...flowAt("sign_in", signIn, deps),
    scope: [...new Set([...identityScopes(settings.vendor), ...nameScopes(settings.vendor)])],
    sealedReturn: seal(await returnKey(deps), back, ["sign-in", flowId]),
    issExpected: vendor.vendor.issExpected,
    ...(anotherAccount && hasIdTokens(vendor.vendor) ? { prompt } : {}),
  };
  // Nothing is kept for later: a refresh token is not asked for.
  const once = { ...vendor, vendor: { ...vendor.vendor, offlineScopes: [] } };
  return flowsOf(deps).start({ flowId, flow }, once, createBindingCookie(), trace);
}

/** Without these an OpenID provider only gives a number, by which no user knows their account. */
function nameScopes({ scopes }: Pick<VendorSettings, "scopes">): readonly string[] {
  return scopes.includes("openid") ? ["profile", "email"].filter((scope) => scopes.includes(scope)) : [];
}

export async function startLink(
  { scopes, ...link }: WantedLink & { readonly scopes: readonly string[] },
  deps: PagesDeps,
  trace: Trace,
): Promise<Answer> {
  const vendor = await vendorAt(link.listed, deps);
  const flow: LinkingFlow = {
    ...flowAt("link", link.listed, deps),
    ...link,
    scope: linkScopes(scopes, link.listed, deps),
    issExpected: vendor.vendor.issExpected,
  };
  return flowsOf(deps).start({ flowId: createFlowId(FLOW_PREFIX), flow }, vendor, createBindingCookie(), trace);
}

/** What the vendor is asked for, and the page lists: an ID token says whose account it is. */
export function linkScopes(
  scopes: readonly string[],
  listed: string,
  deps: Pick<PagesDeps, "settings">,
): readonly string[] {
  return withOwed(scopes, atVendor(listed, deps).settings.vendor);
}

/** Whether a redirect at `/callback` is of these flows. It proves nothing. */
export function isLinkingState(parameters: Parameters): boolean {
  return parameters.get("state")?.startsWith(`${FLOW_PREFIX}-`) === true;
}

/**
 * @returns the redirect to our own pages; never one to a client
 * @throws OAuthError for the 400 page
 */
export async function answerCallback(
  request: CallbackRequest,
  deps: PagesDeps,
  trace: Trace,
): Promise<Answer | Response> {
  const visit: Visit = { cookieHeader: request.cookieHeader, cookies: [], isRefused: false };
  try {
    const answer = await flowsOf(deps, visit).callback(request, trace);
    return withCookies(answer, visit.cookies);
  } catch (thrown) {
    const error = toOAuthError(thrown);
    const { flow, isRefused } = visit;
    if (flow?.ticketId !== undefined) {
      const outcome = error.code === "access_denied" ? "denied" : "ended";
      // Best effort: the ticket expires, and the user sees the first error.
      await deps.tickets.settle(flow.ticketId, outcome).catch(() => undefined);
    }
    if (flow?.purpose !== "link" || isRefused) throw ofVendor(error);
    trace.failure = error;
    const headers = trace.flowId === undefined ? {} : clearBindingCookie(deps.settings.deploymentUrl, trace.flowId);
    return redirectAnswer(connectionsUrl({ error: errorNameOf(error) }), headers);
  }
}

/** Where a flow ends: a path, so that no redirect leaves this server. */
export function connectionsUrl(query: Readonly<Record<string, string>>): string {
  return `${PATHS.connections}?${new URLSearchParams(query).toString()}`;
}

/** Several cookies in one answer. */
export function withCookies(answer: Answer, cookies: readonly string[]): Answer | Response {
  if (cookies.length === 0) return answer;
  const headers = new Headers(answer.headers);
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(answer.body, { status: answer.status, headers });
}

/** A client reads `server_error` for a vendor's error too; on a page it would be said to be ours. */
function ofVendor(error: OAuthError): OAuthError {
  const { vendorError, reason } = error.extras;
  if (error.code !== "server_error" || (vendorError ?? reason) === undefined) return error;
  const said = defined({ vendorError, reason });
  return new OAuthError("vendor_response_invalid", error.description, { cause: error, ...said });
}

/** What a vendor's file says of a user whose organization has to act first. */
const BY_ORGANIZATION: readonly string[] = ["admin_consent_required", "user_not_assigned"];

function errorNameOf({ code, extras: { reason = "" } }: OAuthError): string {
  if (reason === "ticket_ended") return reason;
  if (BY_ORGANIZATION.includes(reason)) return "organization_refused";
  return code === "access_denied" || code === "temporarily_unavailable" ? code : "vendor_error";
}

function flowAt(
  purpose: "sign_in" | "link",
  listed: string,
  { settings, source }: PagesDeps,
): Omit<LinkingFlow, "scope"> {
  const { links } = settings;
  return {
    v: 1,
    purpose,
    path: callbackPath(listed, links),
    listed,
    ...identitySource(atVendor(listed, { settings }).settings),
    signIn: source.vendor,
    signInIssuer: source.issuer,
  };
}

async function vendorAt(listed: string, deps: PagesDeps): Promise<FlowVendor> {
  const { vendorClient, settings } = deps;
  const { vendor, credentials } = atVendor(listed, deps).settings.vendor;
  return {
    vendor: await vendorClient.resolve(vendor),
    credentials,
    vendorClient,
    redirectUri: settings.deploymentUrl + callbackPath(listed, settings.links),
  };
}

async function returnKey({ serverKey }: Pick<PagesDeps, "serverKey">): Promise<Buffer> {
  return deriveKey(await serverKey.derive("sign-in"), "return");
}

function flowsOf(deps: PagesDeps, visit?: Visit): BrokeredCode<LinkingFlow, FlowVendor> {
  const { records, now, settings, source } = deps;
  const neverParked = (): never => {
    throw new OAuthError("server_error", "These flows end at the callback");
  };
  const policy: FlowPolicy<LinkingFlow, FlowVendor> = {
    kind: "linking",
    // The operator may have changed a vendor, or where users sign in: such a flow is unknown here.
    parse: ({ data }) => {
      if (data["v"] !== 1 || (data["purpose"] !== "sign_in" && data["purpose"] !== "link")) return undefined;
      const flow = data as unknown as LinkingFlow;
      if (!isSameSource({ vendor: flow.signIn, issuer: flow.signInIssuer }, source)) return undefined;
      const vendor = settings.links.vendors.get(flow.listed);
      return vendor !== undefined && isSameSource(flow, identitySource({ vendor })) ? flow : undefined;
    },
    state: HANDLE_STATE,
    secrets: (flowId, { scope }, vendor) => vendorSecrets(flowId, vendor, scope, deps),
    seal: neverParked,
    open: neverParked,
    redirectOf: async () => undefined,
    vendorOf: async ({ leg, flow }, trace) => {
      if (leg === "callback" && visit !== undefined) {
        visit.flow = flow;
        await requireOwnBrowser(flow, visit, deps, trace);
      }
      return vendorAt(flow.listed, deps);
    },
    //= bar#AS-8
    bindsBrowser: () => true,
    forgotten: { whenParked: [], atEnd: ["sealedReturn"] },
    burnsOnWrongVerifier: false,
    releases: () => false,
    finishAtCallback: async (redeemed, trace) => {
      if (visit === undefined) return neverParked();
      return redeemed.flow.purpose === "sign_in"
        ? finishSignIn(redeemed, visit, deps)
        : finishLink(redeemed, visit, deps, trace);
    },
    refuse: (trace, reason, cause) => {
      if (visit !== undefined) visit.isRefused = true;
      return refusePage(trace, reason, cause);
    },
  };
  return createBrokeredCode({ records, now, issuer: settings.deploymentUrl }, policy);
}

/** A link is stored in the browser of its user alone, and for a ticket that is still waiting. */
async function requireOwnBrowser(flow: LinkingFlow, visit: Visit, deps: PagesDeps, trace: Trace): Promise<void> {
  if (flow.purpose !== "link") return;
  const signedIn = await deps.signIns.read(visit.cookieHeader);
  if (!isOfUser(flow.user, signedIn)) {
    visit.isRefused = true;
    throw refusePage(trace, "browser_mismatch");
  }
  const { ticketId } = flow;
  if (ticketId === undefined || (await deps.tickets.isApproved(ticketId))) return;
  throw new OAuthError("invalid_request", "The question was withdrawn", { reason: "ticket_ended" });
}

/** The tokens named the user and are dropped: revoking them could end the grant of the link. */
async function finishSignIn(
  { flowId, flow, vendor, tokens }: Redeemed<LinkingFlow, FlowVendor>,
  visit: Visit,
  deps: PagesDeps,
): Promise<Answer> {
  const user = await deps.vendorClient.identify(vendor.vendor, tokens);
  const label = (await accountLabel(vendor.vendor, tokens, deps)) ?? user;
  const back = open(await returnKey(deps), flow.sealedReturn ?? "", ["sign-in", flowId]).toString("utf8");
  await deps.signIns.end(await deps.signIns.read(visit.cookieHeader));
  visit.cookies.push(await deps.signIns.start(user, label));
  return redirectAnswer(back);
}

async function finishLink(
  { flow, vendor, tokens }: Redeemed<LinkingFlow, FlowVendor>,
  visit: Visit,
  deps: PagesDeps,
  trace: Trace,
): Promise<Answer> {
  // 1. the user is still the one who began
  const signedIn = await deps.signIns.read(visit.cookieHeader);
  const { user = "", linkVersion = 0, scope: requestedScope } = flow;
  if (!isOfUser(user, signedIn)) {
    //= bar#LK-9
    const at = atVendor(flow.listed, deps);
    await discardTokens(tokenSetOf(tokens, at), user, at).catch(() => undefined);
    throw new OAuthError("access_denied", "The user has signed out");
  }
  const brought = { ...flow, user, linkVersion, requestedScope, vendor: vendor.vendor, tokens };
  // 2. stored, held back for a yes, or revoked
  const outcome = await takeTokens(brought, signedIn.cookie.hash, deps);
  if (outcome === "asked") return redirectAnswer(PATHS.connections);
  if (outcome !== "linked") trace.reason = outcome;
  // 3. to the page that says it
  return answerOutcome(outcome, brought, deps);
}

/** The call that waits for the ticket learns what the page says. */
export async function answerOutcome(
  outcome: Outcome,
  { listed, ticketId }: Pick<WantedLink, "listed" | "ticketId">,
  { tickets }: Pick<PagesDeps, "tickets">,
): Promise<Answer> {
  if (ticketId !== undefined) await tickets.settle(ticketId, outcome === "linked" ? "linked" : "ended");
  return redirectAnswer(connectionsUrl(outcome === "linked" ? { linked: listed } : { error: outcome }));
}
