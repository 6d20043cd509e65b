/**
 * A vendor made from its entry: it does what the entry says, for one tenant and one client, and
 * refuses everything else. Green against it says that a client does what the entry says, not that
 * the entry is true. The proxy puts it on loopback: the Host header says which vendor is asked.
 */
import { type Respond, startScriptedVendor } from "../scripted-vendor.ts";
import { createQueue } from "../vendor-requests.ts";
import { answerAuthorization, type Decision } from "./authorize.ts";
import type { Entry } from "./facts.ts";
import { ABOUT } from "./identity.ts";
import { isRefusal, merge, nested, type Refusal, refusal, type VendorRequest } from "./requests.ts";
import { answerRevocation } from "./revoke.ts";
import {
  createState,
  type EndpointName,
  type EntryClient,
  type Grant,
  type Publication,
  type VendorState,
} from "./state.ts";
import { answerLongLived, answerToken } from "./token.ts";

/**
 * - `error`: this error, in the vendor's own form.
 * - `status`: an answer of a machine in front of the vendor.
 * - `lose`: the vendor does its work, then the connection is cut.
 */
export type EntryFault =
  | {
      readonly kind: "error";
      readonly code: string;
      readonly status?: number;
      /** Beside the code: a member, or a path to it, and its value. */
      readonly beside?: readonly [string, string];
    }
  | { readonly kind: "status"; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: "lose" };

/** Where a fault can be planted. */
export type FaultPoint = "token" | "longLived" | "revocation";

/** A simulated vendor, for the test that made it. */
export type EntryVendor = ReturnType<typeof createEntryVendor>;

/** @param now whole seconds since 1970 */
export function createEntryVendor(entry: Entry, client: EntryClient, now: () => number) {
  const state = createState(entry, client, now);
  const refusals: string[] = [];
  const faults = createQueue<EntryFault>();
  const decisions: Decision[] = [];
  let requests = 0;

  const serve = async (request: VendorRequest): Promise<Response | undefined> => {
    const at = endpointOf(request, state);
    if (at === undefined) throw refusal("not_found", "there is no such endpoint", 404);
    const isOfTokens = at === "refresh" || at === "longLived";
    const fault = faults.take(at) ?? (isOfTokens ? faults.take("token") : undefined);
    if (fault?.kind === "status") return new Response(null, fault);
    if (fault?.kind === "error") return errorAnswer(fault.code, fault.status ?? 400, at, state, fault.beside);
    const answer = await answerAt(at, request, decisions, state);
    state.served.set(at, (state.served.get(at) ?? 0) + 1);
    return fault === undefined ? answer : undefined;
  };

  return {
    id: entry.facts.id,
    /** For this tenant. */
    hosts: new Set([...state.endpoints.values()].map(({ host }) => host)),
    /** @returns undefined if the connection is cut */
    async handle(request: VendorRequest): Promise<Response | undefined> {
      requests += 1;
      try {
        return await serve(request);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refusals.push(`${request.method} ${request.url.origin}${request.url.pathname}: ${error.message}`);
        return refusalAnswer(error, endpointOf(request, state), state);
      }
    },
    /** What an MCP server says of itself from now on; `the entry's endpoints` before. */
    publish: (publication: Publication): void => void (state.publication = publication),
    /** The next user decides this; the one after that agrees again. */
    decide: (decision: Decision): void => void decisions.push(decision),
    /** The next request there fails; a token request at any endpoint for tokens. */
    failNext: (at: FaultPoint, fault: EntryFault): void => faults.next(at, fault),
    isLive: (token: string): boolean => state.tokens.has(token),
    /** @returns the grant of a live token */
    grantOf: (token: string): Grant | undefined => state.tokens.get(token)?.grant,
    /** Requests that an endpoint did not refuse. */
    served: (at: EndpointName): number => state.served.get(at) ?? 0,
    /** Requests of any kind. */
    requestCount: (): number => requests,
    /** Why requests were refused, oldest first; planted faults are not among them. */
    refusals: (): readonly string[] => refusals,
  };
}

/** One address can be several endpoints: method and body distinguish them. */
function endpointOf(request: VendorRequest, { endpoints, facts }: VendorState): EndpointName | undefined {
  // An endpoint with a query is asked for before one that is the same path without it.
  const found = [...endpoints].filter(([, url]) => isAt(request.url, url));
  const here = found.toSorted(([, a], [, b]) => b.searchParams.size - a.searchParams.size).map(([name]) => name);
  const ofRevocation = facts.revocation?.parameters?.["grant_type"];
  const isRevocation = ofRevocation !== undefined && request.body.includes(`grant_type=${ofRevocation}`);
  const hasGrant = request.body.includes("grant_type") && !isRevocation;
  return here.find((name) => {
    if (["authorization", "metadata", "resource", "jwks"].includes(name)) return request.method === "GET";
    const isByGet = name === "longLived" || (name === "refresh" && facts.longLivedToken !== undefined);
    if (isByGet) return request.method === "GET";
    if (name === "token" || name === "refresh") return request.method === "POST" && (hasGrant || here.length === 1);
    if (name === "revocation")
      return (
        !hasGrant && (here.length === 1 || request.method === facts.revocation?.method || !here.includes("tokenCheck"))
      );
    return true;
  });
}

function isAt(url: URL, endpoint: URL): boolean {
  if (url.host !== endpoint.host || !isPath(url.pathname, endpoint.pathname)) return false;
  return [...endpoint.searchParams].every(([name, value]) => url.searchParams.get(name) === value);
}

/** A segment of the endpoint may be replaced by the token. */
function isPath(path: string, of: string): boolean {
  const [parts, known] = [path.split("/"), of.split("/")];
  return parts.length === known.length && known.every((one, at) => one === "%7Baccess_token%7D" || one === parts[at]);
}

async function answerAt(
  at: EndpointName,
  request: VendorRequest,
  decisions: Decision[],
  state: VendorState,
): Promise<Response> {
  if (at === "authorization") return answerAuthorization(request, decisions.shift() ?? {}, state);
  const isRenewal = at === "refresh" && state.facts.longLivedToken !== undefined;
  if (at === "longLived" || isRenewal) return answerLongLived(request, at, state);
  if (at === "token" || at === "refresh") return answerToken(request, at, state);
  if (at === "revocation") return answerRevocation(request, state);
  return ABOUT[at](request, state);
}

function refusalAnswer({ code, status }: Refusal, at: EndpointName | undefined, state: VendorState): Response {
  if (at === "authorization") return new Response("The vendor refuses this request.", { status });
  return errorAnswer(code, status, at, state);
}

function errorAnswer(
  code: string,
  status: number,
  at: EndpointName | undefined,
  { facts }: VendorState,
  [member, text]: readonly [string, string] = ["error_description", "Refused by the simulated vendor"],
): Response {
  const { tokenResult, errorMember } = facts;
  const within = member.startsWith("error.") ? "error.error" : undefined;
  const path = at === "token" || at === "refresh" ? (errorMember ?? tokenResult?.member ?? within) : undefined;
  const stated = path === undefined ? { error: code } : nested(path, /^\d+$/.test(code) ? Number(code) : code);
  return Response.json(merge(stated, nested(member, text)), { status });
}

/** The hosts of the vendors that are being served. */
export type EntryProxy = Awaited<ReturnType<typeof startEntryProxy>>;

/**
 * A listener on loopback. A host that no vendor here has gets 421, as from a server that is not the
 * one.
 */
export async function startEntryProxy() {
  let served: readonly EntryVendor[] = [];
  let strangers = new Set<string>();
  const answer: Respond = async ({ method, path, query, headers: sent, body }, response) => {
    const { host = "" } = sent;
    const vendor = served.find(({ hosts }) => hosts.has(host));
    if (vendor === undefined) {
      strangers.add(host);
      return { status: 421 };
    }
    const url = new URL(`https://${host}${path}?${query.toString()}`);
    const headers = new Headers(sent as Record<string, string>);
    const made = await vendor.handle({ method, url, headers, body });
    if (made === undefined) {
      response.destroy();
      return undefined;
    }
    return { status: made.status, headers: Object.fromEntries(made.headers), body: await made.text() };
  };
  const { url, close } = await startScriptedVendor({ "*": answer }, { keepsRequests: false });
  return {
    port: Number(new URL(url).port),
    /** Instead of those served before. Their hosts are distinct. */
    serve: (vendors: readonly EntryVendor[]): void => {
      served = vendors;
      strangers = new Set();
    },
    /** Hosts that were asked for and are none of a vendor served, since the last `serve`. */
    strangers: (): readonly string[] => [...strangers],
    close,
  };
}
