/**
 * The vendor as the calling user, for tools: the user's token goes to the vendor's own hosts and
 * nowhere else, is never shown to the client, and is refreshed once when the vendor refuses it.
 */
import { type Fetch, type JsonObject, OAuthError } from "@oauth-broker/oauth-core";
import { isEgressError } from "@oauth-broker/oauth-core/egress";
import { idTokenSubject, type VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { isLoopbackName } from "@oauth-broker/service/configuration";
import { endSpan, startVendorSpan } from "@oauth-broker/service/tracing";
import type { VendorToken, VendorTokenSource } from "../../mode.ts";
import { NeedsScope, ToolError, type VendorApi } from "../../tool.ts";
import { scopesLacking, type ScopeReading } from "./insufficient-scope.ts";

export interface VendorApiDeps {
  readonly vendor: () => Promise<ResolvedVendor>;
  readonly names: { readonly id: string; readonly name: string };
  readonly apiHosts: readonly string[];
  readonly allowLoopback: boolean;
  /** The fetch of an egress with limits for API responses. */
  readonly fetch: Fetch;
  readonly vendorClient: Pick<VendorClient, "account">;
  /** Receives every answer of the API; undefined: none came. */
  readonly onApiAnswer?: (vendor: string, status: number | undefined) => void;
  /** Undefined: the user cannot be asked for scopes that the vendor's answer names. */
  readonly scopeReading?: ScopeReading;
}

/**
 * @param caller of this vendor's tokens
 * @param signal of the call: it also ends the requests of a tool that passes no signal on
 */
export function createVendorApi(caller: VendorTokenSource, signal: AbortSignal, deps: VendorApiDeps): VendorApi {
  const { names } = deps;
  const explained = throwForTool(names);
  const asUser = async <T>(ask: (token: VendorToken) => Promise<T>, isRefusal: (answer: T) => boolean): Promise<T> => {
    const first = await caller.vendorToken().catch(explained);
    const answer = await ask(first);
    if (!isRefusal(answer)) return answer;
    const second = await caller.refused(first).catch(explained);
    return second === undefined ? answer : ask(second);
  };
  return {
    ...names,
    accessToken: async () => (await caller.vendorToken().catch(explained)).accessToken.reveal(),
    fetch: async (input, init = {}) => {
      const url = await requireVendorUrl(input, deps);
      const answer = await asUser(
        ({ accessToken }) => send(url, init, accessToken.reveal(), signal, deps),
        ({ status }) => status === 401,
      );
      if (answer.status === 401) throw new ToolError(refusal(names));
      const scopes = deps.scopeReading === undefined ? [] : await scopesLacking(answer, deps.scopeReading);
      if (scopes.length > 0) throw new NeedsScope(names.id, scopes);
      return answer;
    },
    account: async () => {
      const vendor = await deps.vendor().catch(explained);
      const ask = async ({ accessToken, idToken }: VendorToken): Promise<JsonObject | undefined> => {
        const subject = idToken === undefined ? undefined : idTokenSubject(idToken.reveal(), vendor).subject;
        const found = await deps.vendorClient.account(vendor, accessToken.reveal(), subject);
        return found && withoutToken(found, accessToken.reveal());
      };
      const account = await asUser(
        (token) => ask(token).catch(explained),
        (found) => found === undefined,
      );
      if (account === undefined) throw new ToolError(refusal(names));
      return account;
    },
  };
}

/** A shorter one may be part of any word. */
const SHORTEST_TOKEN = 16;

/** What a tool returns goes to the agent, and some vendors repeat the token in the account. */
function withoutToken(account: JsonObject, token: string): JsonObject {
  const repeats = (text: string): boolean =>
    text.includes(token) && (token.length >= SHORTEST_TOKEN || text.length === token.length);
  const text = JSON.stringify(account, (_, member: unknown) =>
    typeof member === "string" && repeats(member) ? undefined : member,
  );
  return JSON.parse(text) as JsonObject;
}

async function send(
  url: URL,
  init: RequestInit,
  token: string,
  signal: AbortSignal,
  { names, fetch, onApiAnswer }: Pick<VendorApiDeps, "names" | "fetch" | "onApiAnswer">,
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  const both = init.signal === undefined || init.signal === null ? signal : AbortSignal.any([signal, init.signal]);
  const span = startVendorSpan(`fetch ${names.id}`);
  const report = (status: number | undefined): void => {
    onApiAnswer?.(names.id, status);
    const facts = { "oauth_broker.vendor": names.id, "http.response.status_code": status };
    endSpan(span, facts, status === undefined || status >= 400);
  };
  const answer = await fetch(url, { ...init, headers, signal: both }).catch((error: unknown) => {
    report(undefined);
    if (isEgressError(error) && error.kind === "refused") {
      throw new ToolError("The tool made a request that this server does not send", { cause: error });
    }
    throw new ToolError(`${names.name} does not answer now: try again in a moment`, { cause: error });
  });
  report(answer.status);
  return answer;
}

/** A model chooses arguments, and a tool builds URLs from them: a URL elsewhere gets no token. */
async function requireVendorUrl(input: string | URL, deps: VendorApiDeps): Promise<URL> {
  const url = URL.parse(input);
  if (url === null) throw new ToolError("The tool requested something that is not a URL");
  const { apiHosts, allowLoopback, names } = deps;
  if (url.protocol === "https:" && apiHosts.some((host) => isOf(url.hostname, host))) return url;
  const isOpen =
    url.protocol === "https:" || (allowLoopback && url.protocol === "http:" && isLoopbackName(url.hostname));
  const { authorizationEndpoint, tokenEndpoint, userinfoEndpoint } = await deps.vendor().catch(throwForTool(names));
  const own = [authorizationEndpoint, tokenEndpoint, userinfoEndpoint].map(
    (endpoint) => URL.parse(endpoint ?? "")?.origin,
  );
  if (isOpen && own.includes(url.origin)) return url;
  throw new ToolError(
    `${url.host === "" ? url.protocol : url.host} is not a host of ${names.name} that this server may send a token to`,
  );
}

/** `.example.com` is every host below it, `api.example.com` only that one. */
function isOf(hostname: string, host: string): boolean {
  return host.startsWith(".") ? hostname.endsWith(host) : hostname === host;
}

function refusal({ name }: VendorApiDeps["names"]): string {
  return `${name} does not accept the user's sign-in any more: ask the user to connect ${name} again`;
}

/**
 * For `catch`: outages and dead grants as the model may see them; any other error is a bug and is
 * thrown unchanged.
 */
function throwForTool(names: VendorApiDeps["names"]): (error: unknown) => never {
  return (cause) => {
    if (!(cause instanceof OAuthError)) throw cause;
    throw new ToolError(textFor(cause, names), { cause });
  };
}

function textFor({ code, extras: { reason } }: OAuthError, names: VendorApiDeps["names"]): string {
  if (code === "temporarily_unavailable") return `${names.name} cannot be reached now: try again in a moment`;
  if (code === "invalid_grant") return refusal(names);
  if (reason === "account_unknown") return `${names.name} has no endpoint that describes its user's account`;
  return `${names.name} answered in a way this server does not understand`;
}
