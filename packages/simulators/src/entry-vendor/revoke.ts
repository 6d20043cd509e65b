/** The vendor's revocation: RFC 7009's, or the entry's own method, authentication and body. */
import type { RevocationFacts } from "./facts.ts";
import {
  basic,
  requireClient,
  bearerToken,
  readBody,
  readParameters,
  refusal,
  type VendorRequest,
} from "./requests.ts";
import { isRevocable, type VendorState } from "./state.ts";

export async function answerRevocation(request: VendorRequest, state: VendorState): Promise<Response> {
  const { facts, entry, tokens } = state;
  const { revocation } = facts;
  const token =
    revocation === undefined ? await standardToken(request, state) : dialectToken(request, revocation, state);
  const known = tokens.get(token);
  if (known === undefined || !isRevocable(entry, known.kind)) return unknownToken(revocation);
  const endsGrant = known.kind === "refresh_token" || revocation?.ends === "grant";
  for (const [value, { grant }] of tokens)
    if (value === token || (endsGrant && grant === known.grant)) tokens.delete(value);
  if (revocation?.success !== undefined)
    return Response.json({ [revocation.success.member]: revocation.success.values[0] });
  return new Response(null, { status: revocation?.method === "DELETE" ? 204 : 200 });
}

async function standardToken(request: VendorRequest, state: VendorState): Promise<string> {
  const { facts } = state;
  // The entry says nothing of a body here: a server that takes JSON for tokens takes it here too.
  const format = request.headers.get("content-type")?.includes("json") === true ? facts.tokenRequestBody : "form";
  const parameters = readParameters(readBody(request, format), facts);
  await requireClient(request, parameters, state);
  const token = parameters.require("token");
  parameters.take("token_type_hint");
  parameters.requireNoOther();
  return token;
}

function dialectToken(request: VendorRequest, dialect: RevocationFacts, state: VendorState): string {
  const { client, endpoints } = state;
  const { method, authentication } = dialect;
  if (request.method !== method)
    throw refusal("invalid_request", `revocation by ${request.method}, not ${method}`, 405);
  const header = request.headers.get("authorization");
  const bearer = bearerToken(request);
  const isRight =
    authentication === "basic"
      ? header === basic(client.clientId, client.clientSecret)
      : authentication === "bearer"
        ? bearer !== undefined
        : header === null || dialect.headers?.["authorization"] !== undefined;
  if (!isRight) throw refusal("invalid_client", `revocation without the ${authentication} authentication`, 401);
  const inHeader = tokenInHeaders(request, dialect, client);
  const token = tokenIn(request, dialect, client, endpoints.get("revocation")) ?? inHeader ?? bearer;
  if (token === undefined) throw refusal("invalid_request", `no token in the ${dialect.body} or a header`);
  if (authentication === "bearer" && token !== bearer) throw refusal("invalid_request", "two tokens");
  return token;
}

type Client = VendorState["client"];

function filled(text: string, { clientId, clientSecret }: Client): string {
  return text.replaceAll("{client_id}", clientId).replaceAll("{client_secret}", clientSecret);
}

/** Each header of the dialect, and the token that one of them may hold. */
function tokenInHeaders(request: VendorRequest, { headers = {} }: RevocationFacts, client: Client): string | undefined {
  let token: string | undefined;
  for (const [name, template] of Object.entries(headers)) {
    const value = request.headers.get(name) ?? "";
    const [before = "", after] = filled(template, client).split("{token}", 2);
    if (after === undefined ? value !== before : !value.startsWith(before))
      throw refusal("invalid_client", `revocation without its ${name}`, 401);
    if (after !== undefined) token = value.slice(before.length);
  }
  return token;
}

function tokenIn(
  request: VendorRequest,
  { body: place, tokenParameter: name, parameters = {} }: RevocationFacts,
  client: Client,
  endpoint: URL | undefined,
): string | undefined {
  const query = new URLSearchParams(request.url.search);
  for (const fixed of endpoint?.searchParams.keys() ?? []) query.delete(fixed);
  const isElsewhere = place === "query" ? request.body !== "" : query.size > 0;
  if (isElsewhere || (place === "none" && request.body !== "")) {
    throw refusal("invalid_request", `the token of a revocation belongs to: ${place}`);
  }
  if (place === "none") return undefined;
  const all = place === "query" ? [...query] : [...readBody(request, place)];
  const members = all.filter(([one]) => !Object.hasOwn(parameters, one));
  for (const [fixed, value] of Object.entries(parameters))
    if (new Map(all).get(fixed) !== filled(value, client))
      throw refusal("invalid_client", `revocation without ${fixed}`, 401);
  const [only] = members;
  if (only === undefined || members.length > 1 || only[0] !== name) {
    throw refusal("invalid_request", `revocation wants ${name} alone, not ${members.map(([one]) => one).join(", ")}`);
  }
  return only[1];
}

/** The standard's answer to an unknown token is that of a success. */
function unknownToken(revocation: RevocationFacts | undefined): Response {
  const [gone] = revocation?.goneStatuses.toSorted((a) => (a === 404 ? 1 : -1)) ?? [];
  const [error] = revocation?.goneErrors ?? [];
  if (gone !== undefined) return Response.json({}, { status: gone });
  const { member, values = [] } = revocation?.success ?? {};
  const success = member === undefined ? {} : { [member]: values[0] };
  return Response.json(error === undefined ? success : { ok: false, error });
}
