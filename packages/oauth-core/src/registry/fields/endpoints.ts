/** The rows of a vendor's addresses, and of how its accounts and checks are asked. */
import type { PatternCheck } from "../../mechanics/pattern-check.ts";
import { checkDomain, checkHeaderName, checkHeaderValue, checkMemberPath, checkTokenName } from "./checks.ts";
import type { Field, ListShape, MapShape, ObjectShape, OptionalText, TextShape } from "./shape.ts";

/** One text of an entry. */
export const TEXT = { is: "text" } as const satisfies TextShape;
/** Several. */
export const TEXTS = { is: "list", of: TEXT } as const satisfies ListShape;
/** Parameters of a request, by name. */
export const PARAMETERS = { is: "map", of: { is: "text", as: "parameter" } } as const satisfies MapShape;

/** A shape, with what one row says in addition or otherwise. */
export type Says<Usual, More> = Omit<Usual, keyof More> & NoInfer<More>;

/** What every row says to its reader. */
export interface Words {
  readonly description: string;
  readonly example: string;
}

function says<Usual, More>(usual: Usual, more: More | undefined): Says<Usual, More> {
  return { ...usual, ...more } as unknown as Says<Usual, More>;
}

/** An address in which the entry's placeholders are filled. */
export function url<const More>(
  description: string,
  example: string,
  more?: More,
): Says<Words & { readonly is: "url"; readonly placeholders: "filled" }, More> {
  return says({ is: "url", placeholders: "filled", description, example } as const, more);
}

/** One of some texts, the first of which is the example. */
export function choice<const Values extends readonly [string, ...string[]], const More>(
  values: Values,
  description: string,
  more?: More,
): Says<Words & { readonly is: "choice"; readonly values: Values }, More> {
  return says({ is: "choice", values, description, example: values[0] } as const, more);
}

/** True or false. */
export function flag<const More>(description: string, more?: More): Says<Words & { readonly is: "flag" }, More> {
  return says({ is: "flag", description, example: "true" } as const, more);
}

type Text = Words & { readonly is: "text"; readonly type: string };

/** One text. */
export function text<const More>(description: string, example: string, more?: More): Says<Text, More> {
  return says({ is: "text", type: "text", description, example } as const, more);
}

/** A member of an answer. */
export function path<const More>(
  description: string,
  example: string,
  more?: More,
): Says<Text & { readonly check: PatternCheck }, More> {
  return says({ ...text(description, example), type: "member, or a path to it", check: checkMemberPath }, more);
}

/** Headers of a request. */
export const HEADERS = {
  is: "map",
  names: "lower case",
  name: checkHeaderName,
  of: text("The value.", "2026-11-01", { check: checkHeaderValue }),
  type: "mapping of names to texts",
  example: '{ x-api-version: "2026-11-01" }',
} as const satisfies MapShape;

const name = (description: string, example: string): OptionalText =>
  text(description, example, { optional: true, type: "name", check: checkTokenName });

/** A lifetime as a point in time. */
export const EXPIRY = {
  is: "object",
  members: {
    member: path("The member that holds the point in time.", "expires_at"),
    unit: { is: "choice", values: ["seconds", "milliseconds", "date"], description: "What it counts, since 1970." },
  },
} as const satisfies ObjectShape;

/** Also of `account`, in a token answer and in a token check. */
export const IDENTITY_MEMBERS = {
  is: "list",
  type: "list of members",
  of: path("A member, or a path to it.", "id"),
  description:
    "Its members that identify the user for good, among all users of the vendor; several are joined. Never an e-mail address or a login.",
  example: "[team.id, id]",
} as const;

const ACCOUNT = {
  is: "object",
  type: "section",
  description:
    "Identifies the account of a token, if that is not by OpenID Connect's userinfo. In place of `userinfo_endpoint`.",
  example: "{ endpoint: https://vendor.example/me, identity: [id] }",
  members: {
    endpoint: url("Where the account is asked for.", "https://vendor.example/api/me", { placeholders: "known" }),
    method: choice(["GET", "POST"], "How it is asked for.", { default: "GET", absent: "GET" }),
    body: {
      is: "json",
      optional: true,
      type: "mapping",
      description: "Sent as JSON: a GraphQL query.",
      example: '{ query: "{ viewer { id } }" }',
    },
    // With it a token without its token response has no account.
    host: {
      is: "object",
      optional: true,
      type: "section",
      description: "The host, if the token answer names it.",
      members: {
        member: path("The member of the token answer that holds a host or a URL.", "api_domain"),
        below: text(
          "The vendor's domain that the host has to be below: it receives the access token.",
          "vendor.example",
          {
            type: "domain",
            check: checkDomain,
          },
        ),
      },
    },
    form: {
      is: "map",
      optional: true,
      type: "mapping of names to texts",
      description: "Sent as a form; `{client_id}` in a value stands for our client id.",
      example: '{ client_id: "{client_id}" }',
      of: { is: "text", as: "parameter" },
    },
    headers: {
      ...HEADERS,
      optional: true,
      description: "Headers that the vendor requires: a version, or a `user-agent` of its own form.",
    },
    token: {
      is: "object",
      optional: true,
      type: "section",
      description: "Where the access token is sent, if that is not `Authorization: Bearer`.",
      example: "{ in: query, name: oauth_token }",
      members: {
        in: choice(
          ["header", "query", "path", "form"],
          "In a header, in a parameter of the URL or of a form, or as `{access_token}` in the endpoint.",
        ),
        name: name("Of the header, `authorization` if absent; or of the parameter.", "x-access-token"),
        scheme: name("Before the token in the header; the token alone if absent.", "OAuth"),
      },
      check: ({ in: place, name, scheme }: { in: string; name?: string; scheme?: string }): string | undefined => {
        if (["query", "form"].includes(place) && name === undefined) return "needs the name of the parameter";
        return place !== "header" && scheme !== undefined ? "has a scheme, which only a header has" : undefined;
      },
    },
    member: path(
      "The member that holds the account, if that is not the answer itself; `0` is the first of a list.",
      "data.0",
      { optional: true },
    ),
    refusal: {
      is: "object",
      optional: true,
      type: "section",
      description: "How an answer with status 200 says that the token is refused.",
      members: {
        member: path("The member that says it.", "error.code"),
        values: {
          is: "list",
          type: "list of texts",
          of: text("A value.", "NOT_SIGNED_IN"),
          description: "Its values that say so; any other is an error.",
          example: "[NOT_SIGNED_IN]",
        },
      },
    },
    identity: { ...IDENTITY_MEMBERS, optional: true },
    scopeHeader: {
      ...name("The header of the answer that lists the token's scopes, with commas between them.", "x-oauth-scopes"),
      type: "header",
    },
  },
  check: ({ endpoint, token }: { endpoint: string; token?: { in: string } }): string | undefined =>
    token?.in === "path" && !endpoint.includes("{access_token}")
      ? "is without {access_token}, where the token is to stand"
      : undefined,
} as const satisfies ObjectShape;

/** In an order that the hash of a flow's context keeps (vendor-client/kept.ts). */
export const ENDPOINT_FIELDS = {
  issuer: url(
    "The vendor's issuer, byte for byte; endpoints that are absent here are discovered from it.",
    "https://vendor.example",
    {
      placeholders: "known",
      by: ["catalogue", "file", "request"],
      variable: {
        name: "VENDOR_ISSUER",
        description: "The vendor's issuer, byte for byte; endpoints that are not given are discovered from it.",
      },
      bindsFlow: true,
      atMovedAuthorizationEndpoint: "dropped",
      explained: "endpoint",
    },
  ),
  authorizationEndpoint: url("Where users are sent.", "https://vendor.example/authorize", {
    by: ["catalogue", "file", "request"],
    variable: { name: "VENDOR_AUTHORIZATION_URL" },
    inMetadata: true,
    bindsFlow: true,
    explained: "endpoint",
  }),
  tokenEndpoint: url("Where codes are redeemed.", "https://vendor.example/token", {
    by: ["catalogue", "file", "request"],
    variable: { name: "VENDOR_TOKEN_URL", description: "Where codes are redeemed and tokens refreshed." },
    inMetadata: true,
    bindsFlow: true,
    pinnedFor: "grants",
    explained: "endpoint",
  }),
  refreshEndpoint: url(
    "Where tokens are refreshed, when that is not the token endpoint.",
    "https://vendor.example/refresh",
    {
      by: ["catalogue", "file"],
      bindsFlow: true,
      pinnedFor: "grants",
      atMovedTokenEndpoint: "dropped",
      explained: "endpoint",
    },
  ),
  longLivedToken: {
    is: "object",
    by: ["catalogue"],
    pinnedFor: "grants",
    atMovedTokenEndpoint: "at its domain",
    members: {
      // Where the token that comes with the code is exchanged, at the host where tokens are renewed.
      endpoint: { is: "url", placeholders: "filled" },
      exchange: PARAMETERS,
      // For a long-lived token, at the refresh endpoint. Absent: it is exchanged again.
      renewal: { ...PARAMETERS, optional: true },
    },
  },
  revocationEndpoint: url(
    "Where tokens are revoked. `{client_id}` is replaced by ours, for a vendor that wants it in the path.",
    "https://vendor.example/revoke",
    {
      placeholders: "known",
      by: ["catalogue", "file"],
      variable: { name: "VENDOR_REVOCATION_URL", description: "Where tokens are revoked." },
      inMetadata: true,
      bindsFlow: true,
      pinnedFor: "grants",
      atMovedTokenEndpoint: "at its domain",
      explained: "endpoint",
    },
  ),
  registrationEndpoint: url(
    "Where POST /register registers clients; if absent, the endpoint from the vendor's metadata.",
    "https://vendor.example/register",
    { operatorsPlaceholders: false, by: ["catalogue", "file"], inMetadata: true },
  ),
  jwksUri: url("The keys of its ID tokens.", "https://vendor.example/jwks", {
    by: ["catalogue", "file"],
    variable: { name: "VENDOR_JWKS_URL" },
    inMetadata: true,
    bindsFlow: true,
    atMovedAuthorizationEndpoint: "dropped",
    explained: "endpoint",
  }),
  userinfoEndpoint: url(
    "Identifies the account of a token: called once per flow whose tokens come without an ID token, so that `connection` names the account. For a registry vendor with its own kind of account, that account.",
    "https://vendor.example/userinfo",
    {
      by: ["catalogue", "file"],
      variable: {
        name: "VENDOR_USERINFO_URL",
        description:
          "Identifies the user of a token. For a registry vendor with its own kind of account endpoint, that endpoint.",
      },
      inMetadata: true,
      pinnedFor: "checks",
      atMovedTokenEndpoint: "at its domain",
    },
  ),
  account: {
    ...ACCOUNT,
    by: ["catalogue", "file"],
    insteadOf: "userinfoEndpoint",
    variable: {
      name: "VENDOR_ACCOUNT_URL",
      description:
        "The user's account, a JSON object, for a GET with the access token as Bearer. For a vendor that does not identify its users: neither ID tokens nor OpenID Connect's userinfo, and no source for the registry to say how. Needs VENDOR_IDENTITY.",
      example: "https://vendor.example/v1/me",
    },
    explained: { as: "account" },
    pinnedFor: "checks",
    atMovedTokenEndpoint: "at its domain",
  },
  introspectionEndpoint: url(
    "Says whether a token is valid (RFC 7662), for `/v1/check`: called as the client of `credentials`, or as the caller's own. For a registry vendor with its own kind of token check, that check.",
    "https://vendor.example/introspect",
    {
      by: ["file"],
      variable: {
        name: "VENDOR_INTROSPECTION_URL",
        description:
          "Validates a token, for a caller with the client secret. For a registry vendor with its own kind of token check, that check.",
      },
      inMetadata: true,
      pinnedFor: "checks",
      atMovedTokenEndpoint: "at its domain",
    },
  ),
  tokenCheck: {
    is: "code",
    by: [],
    insteadOf: "introspectionEndpoint",
    pinnedFor: "checks",
    atMovedTokenEndpoint: "at its domain",
  },
  issuerSpelling: { is: "choice", values: ["exact", "bare"], by: ["catalogue"] },
  issuerTemplate: { is: "code", by: [], atMovedAuthorizationEndpoint: "dropped" },
  serverUrl: { is: "url", by: [] },
  operatorsEndpoints: { is: "code", by: [] },
  apiHosts: {
    is: "list",
    of: { is: "text" },
    by: [],
    variable: {
      name: "VENDOR_API_HOSTS",
      type: "host names without port, separated by commas; with a leading dot, every host below that domain",
      description:
        "Hosts that tools may send a user's vendor token to, in addition to the vendor's own. https only. The operator of such a host can act as the user.",
      example: "api.vendor.example,.vendor-apis.example",
    },
    atMovedTokenEndpoint: "at its domain",
  },
} as const satisfies Record<string, Field>;
