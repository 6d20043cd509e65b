/**
 * The vendor's answers about itself and about a token's user: metadata, keys, userinfo or account,
 * introspection or its own check, and the registration of clients.
 */
import { type Entry, type Facts, isOfMcpServer, type Json } from "./facts.ts";
import {
  basic,
  requireClient,
  bearerToken,
  merge,
  nested,
  readBody,
  readParameters,
  refusal,
  type VendorRequest,
} from "./requests.ts";
import { type EndpointName, type IssuedToken, keyPair, LIFETIME_SECONDS, SUBJECT, type VendorState } from "./state.ts";
import { pointInTime } from "./token.ts";
import { otherHost } from "./wrong-values.ts";

type About = Exclude<EndpointName, "authorization" | "token" | "refresh" | "longLived" | "revocation">;
type Account = NonNullable<Facts["account"]>;
type Handler = (request: VendorRequest, state: VendorState) => Response | Promise<Response>;

/** @throws Refusal */
export const ABOUT: Readonly<Record<About, Handler>> = {
  metadata: (_, state) => {
    if (state.publication === "nothing") throw refusal("not_found", "no metadata", 404);
    return Response.json(metadata(state));
  },
  resource: (_, state) => {
    if (state.publication === "nothing") throw refusal("not_found", "no metadata", 404);
    const { facts, issuer = "", publication } = state;
    const named = publication === "another issuer" ? otherHost(issuer) : issuer;
    return Response.json({ resource: facts.serverUrl ?? "", authorization_servers: [named] });
  },
  jwks: (_, { facts }) => {
    const keys = facts.idTokenAlgs.slice(0, 1).map((alg) => {
      return { ...keyPair(alg).publicKey.export({ format: "jwk" }), kid: alg, use: "sig", alg };
    });
    return Response.json({ keys });
  },
  userinfo: (request, state) => {
    requireAccessToken(bearerToken(request), state);
    return Response.json({ sub: SUBJECT });
  },
  account: answerAccount,
  introspection: async (request, state) => {
    const { client, tokens, now } = state;
    const parameters = readParameters(readBody(request, "form"), { ...state.facts, parameterNames: {} });
    await requireClient(request, parameters, state);
    const known = tokens.get(parameters.require("token"));
    if (known?.kind !== "access_token") return Response.json({ active: false });
    const { clientId } = client;
    const exp = now() + LIFETIME_SECONDS;
    return Response.json({ active: true, client_id: clientId, sub: SUBJECT, token_type: "bearer", exp });
  },
  tokenCheck: answerTokenCheck,
  registration: answerRegistration,
};

function metadata({ facts, issuer = "", endpoints, publication }: VendorState): Readonly<Record<string, Json>> {
  const at = (name: EndpointName): Json => endpoints.get(name)?.href ?? null;
  return {
    issuer: publication === "another's metadata" ? otherHost(issuer) : issuer,
    authorization_endpoint: at("authorization"),
    token_endpoint: at("token"),
    jwks_uri: at("jwks"),
    // For any other vendor, clients take these from the entry.
    ...(isOfMcpServer(facts)
      ? {
          revocation_endpoint: at("revocation"),
          registration_endpoint: at("registration"),
          userinfo_endpoint: at("userinfo"),
          introspection_endpoint: at("introspection"),
        }
      : {}),
    response_types_supported: ["code"],
    authorization_response_iss_parameter_supported: facts.issRequired !== false,
    ...(facts.pkce === "none" ? {} : { code_challenge_methods_supported: [facts.pkce] }),
  };
}

function requireAccessToken(token: string | undefined, { tokens }: VendorState): IssuedToken {
  const known = token === undefined ? undefined : tokens.get(token);
  if (known?.kind !== "access_token") throw refusal("invalid_token", "no live access token", 401);
  return known;
}

function answerAccount(request: VendorRequest, state: VendorState): Response {
  const { facts } = state;
  const { account } = facts;
  if (account === undefined) throw refusal("not_found", "no account", 404);
  if (request.method !== account.method) throw refusal("invalid_request", `the account by ${request.method}`, 405);
  for (const [name, value] of Object.entries(account.headers ?? {})) {
    if (request.headers.get(name) !== state.fill(value))
      throw refusal("invalid_request", `the header ${name} is missing`);
  }
  requireContent(request, account, state);
  const token = tokenOf(request, account);
  if (account.refusal !== undefined && state.tokens.get(token ?? "")?.kind !== "access_token") {
    return Response.json(nested(account.refusal.member, account.refusal.values[0] ?? ""));
  }
  const { grant } = requireAccessToken(token, state);
  const headers = account.scopeHeader === undefined ? {} : { [account.scopeHeader]: grant.scope.join(", ") };
  const { witness } = state.entry;
  if (witness !== undefined) return Response.json(witness.body, { headers });
  const found = members(account.identity ?? [], (path) => userOf(path));
  return Response.json(account.member === undefined ? found : nested(account.member, found), { headers });
}

/** Beside the token, if that is in the form. */
function requireContent(request: VendorRequest, { body, form, token }: Account, state: VendorState): void {
  if (form !== undefined || token?.in === "form") {
    const sent = new Map(readBody(request, "form"));
    const isComplete = Object.entries(form ?? {}).every(([name, value]) => sent.get(name) === state.fill(value));
    if (!isComplete) throw refusal("invalid_request", "the account's request has another form");
    return;
  }
  if (request.body !== (body === undefined ? "" : JSON.stringify(body)))
    throw refusal("invalid_request", "the account's request has another body");
}

/** @returns the token in the one place that the entry says; undefined for any other, and for a second one */
function tokenOf(request: VendorRequest, { endpoint, token: place }: Account): string | undefined {
  const { url, headers } = request;
  if (place === undefined) return bearerToken(request);
  if (place.in !== "header" && headers.has("authorization")) return undefined;
  if (place.in === "form") return readBody(request, "form").find(([name]) => name === place.name)?.[1];
  if (place.in === "path") {
    const at = new URL(endpoint).pathname.split("/").findIndex((part) => part.includes("access_token"));
    return decodeURIComponent(url.pathname.split("/")[at] ?? "");
  }
  if (place.in !== "header") return url.searchParams.get(place.name) ?? undefined;
  const { name = "authorization", scheme } = place;
  const sent = headers.get(name) ?? "";
  if (name !== "authorization" && headers.has("authorization")) return undefined;
  const prefix = scheme === undefined ? "" : `${scheme} `;
  return sent.startsWith(prefix) ? sent.slice(prefix.length) : undefined;
}

/** @returns the identity of the signed-in user at the account; undefined if the entry names none there */
export function accountUser({ facts, witness }: Entry): readonly string[] | undefined {
  const stated = facts.account?.identity;
  return stated === undefined || witness === undefined ? stated?.map(userOf) : [witness.user];
}

/** @returns the identity of the signed-in user under this member */
export function userOf(path: string): string {
  return path === "sub" ? SUBJECT : `${path} of the user`;
}

function members(paths: readonly string[], valueOf: (path: string) => Json): Json {
  let made: Json = {};
  for (const path of paths) made = merge(made, nested(path, valueOf(path)));
  return made;
}

function answerTokenCheck(request: VendorRequest, state: VendorState): Response {
  const { facts, client, now } = state;
  const { tokenCheck: check } = facts;
  if (check === undefined) throw refusal("not_found", "no check of tokens", 404);
  const header = request.headers.get("authorization");
  if (request.method !== check.method) throw refusal("invalid_request", `the check by ${request.method}`, 405);
  if (check.authentication === "basic" && header !== basic(client.clientId, client.clientSecret)) {
    throw refusal("invalid_client", "the check without Basic", 401);
  }
  const token = check.tokenParameter === undefined ? bearerToken(request) : bodyMember(request, check.tokenParameter);
  const known = token === undefined ? undefined : state.tokens.get(token);
  if (known?.kind !== "access_token") return Response.json({}, { status: check.inactiveStatuses[0] ?? 404 });
  const { expiry, scope } = check;
  let answer = merge(
    members(check.client, () => client.clientId),
    members(check.identity ?? [], (path) => userOf(path)),
  );
  if (scope !== undefined) answer = merge(answer, nested(scope, [...known.grant.scope]));
  if (expiry !== undefined) {
    answer = merge(answer, nested(expiry.member, pointInTime(now() + LIFETIME_SECONDS, expiry.unit)));
  }
  return Response.json(answer);
}

function bodyMember(request: VendorRequest, name: string): string | undefined {
  return readBody(request, "json").find(([one]) => one === name)?.[1];
}

function answerRegistration(request: VendorRequest, { facts, client }: VendorState): Response {
  const wanted: Readonly<Record<string, Json>> = {
    redirect_uris: [client.redirectUri],
    token_endpoint_auth_method: facts.tokenEndpointAuthMethod,
    ...(facts.defaultScopes.length === 0 ? {} : { scope: facts.defaultScopes.join(" ") }),
  };
  const given = JSON.parse(request.body) as Readonly<Record<string, Json>>;
  for (const name of ["redirect_uris", "token_endpoint_auth_method", "scope"]) {
    if (JSON.stringify(given[name]) !== JSON.stringify(wanted[name])) {
      throw refusal("invalid_client_metadata", `the registration has another ${name}`);
    }
  }
  return Response.json({ ...wanted, client_id: client.clientId }, { status: 201 });
}
