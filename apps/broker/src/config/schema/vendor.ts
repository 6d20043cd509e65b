/**
 * One entry of `vendors`: the registry's fields spelled in snake_case, plus the credentials, which
 * only an operator has.
 */
import { Secret } from "@oauth-broker/oauth-core";
import { isReservedAuthorizationParameter, isScopeToken } from "@oauth-broker/oauth-core/protocol";
import { checkName } from "@oauth-broker/service/configuration";
import { z } from "zod";
import { endpoint, endpointTemplate, type UrlRules } from "./endpoint.ts";
import { choice, flag, integer, listOf, mapOf, oneOrList, secretText, section, text } from "./fields.ts";
import {
  checkErrorCode,
  checkHeaderName,
  checkHeaderValue,
  checkMemberPath,
  checkPlaceholderName,
  checkToken,
} from "./checks.ts";
import { checkCredentialIds, credentialsSchema, placeholderSchema, tokenErrorSchema } from "./vendor-parts.ts";

const ID_TOKEN_ALGS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;
const CALLBACK_OWN_PARAMETERS: ReadonlySet<string> = new Set([
  "code",
  "state",
  "iss",
  "error",
  "error_description",
  "error_uri",
]);

/**
 * The endpoints that may contain {placeholders}; whether those are declared is asked of each
 * (vendors/placeholders.ts).
 */
export const ENDPOINT_TEMPLATES = {
  issuer: {
    description: "The vendor's issuer, byte for byte; endpoints that are absent here are discovered from it.",
    example: "https://vendor.example",
  },
  authorization_endpoint: { description: "Where users are sent.", example: "https://vendor.example/authorize" },
  token_endpoint: { description: "Where codes are redeemed.", example: "https://vendor.example/token" },
  refresh_endpoint: {
    description: "Where tokens are refreshed, when that is not the token endpoint.",
    example: "https://vendor.example/refresh",
  },
  revocation_endpoint: {
    description: "Where tokens are revoked. `{client_id}` stands for ours where the vendor has a way of its own.",
    example: "https://vendor.example/revoke",
  },
  jwks_uri: { description: "The keys of its ID tokens.", example: "https://vendor.example/jwks" },
  userinfo_endpoint: {
    description:
      "Identifies the account of a token: called once per flow whose tokens come without an ID token, so that `connection` names the account.",
    example: "https://vendor.example/userinfo",
  },
  introspection_endpoint: {
    description:
      "Says whether a token is valid (RFC 7662), for `/v1/check`: called as the client of `credentials`, or as the caller's own.",
    example: "https://vendor.example/introspect",
  },
} as const;

export function vendorSchema(rules: UrlRules) {
  const url = (field: keyof typeof ENDPOINT_TEMPLATES) => endpointTemplate(rules, ENDPOINT_TEMPLATES[field]).optional();
  return section({
    name: text(
      { type: "text", description: "Shown to users. Needed for a vendor of your own.", example: "My Vendor" },
      checkName,
    ).optional(),
    issuer: url("issuer"),
    authorization_endpoint: url("authorization_endpoint"),
    token_endpoint: url("token_endpoint"),
    refresh_endpoint: url("refresh_endpoint"),
    revocation_endpoint: url("revocation_endpoint"),
    registration_endpoint: endpoint(rules, {
      description: "Where POST /register registers clients; if absent, the endpoint from the vendor's metadata.",
      example: "https://vendor.example/register",
    }).optional(),
    jwks_uri: url("jwks_uri"),
    userinfo_endpoint: url("userinfo_endpoint"),
    introspection_endpoint: url("introspection_endpoint"),
    pkce: choice({ description: "What the vendor does with PKCE.", example: "S256", default: "S256" }, [
      "S256",
      "plain",
      "none",
    ]).optional(),
    scope_separator: choice({ description: "What stands between scopes.", example: '","', default: '" "' }, [
      " ",
      ",",
      "+",
      ";",
    ]).optional(),
    default_scopes: listOf(
      text(
        { type: "scope", description: "One scope.", example: "read", keywords: { pattern: "^[!#-\\[\\]-~]+$" } },
        checkScope,
      ),
      {
        type: "list of scopes",
        description: "Asked for when a request names none.",
        example: "[read]",
        default: "[]",
      },
    ).optional(),
    authorization_params: mapOf(
      {
        type: "mapping of names to texts",
        description: "Fixed parameters of every authorization request.",
        example: "{ access_type: offline }",
        default: "{}",
      },
      (name) => (isReservedAuthorizationParameter(name) ? "is a parameter only the broker sets" : undefined),
      z.string().max(2048),
    ).optional(),
    authorization_code_lifetime_seconds: integer(
      { type: "seconds", description: "How long the vendor's codes live, where it is known.", example: "60" },
      1,
      3600,
    ).optional(),
    redeem_at: choice(
      { description: "`callback` for codes that expire too soon to be parked.", example: "token", default: "token" },
      ["token", "callback"],
    ).optional(),
    token_endpoint_auth_method: choice(
      {
        description: "How we prove ourselves to the vendor.",
        example: "client_secret_post",
        default: "client_secret_basic",
      },
      ["client_secret_basic", "client_secret_post", "none"],
    ).optional(),
    token_request_body: choice({ description: "How token requests are written.", example: "form", default: "form" }, [
      "form",
      "json",
    ]).optional(),
    token_headers: mapOf(
      {
        type: "mapping of names to texts",
        description:
          "Further headers of token requests, for example an API key. Never sent to an endpoint of which a request names a part.",
        example: '{ x-api-version: "2026-11-01" }',
        default: "{}",
      },
      checkHeaderName,
      text({ type: "text", description: "The value.", example: "2026-11-01" }, checkHeaderValue),
    ).optional(),
    token_response_member: text(
      {
        type: "member, or a path to it",
        description: "The member of a token answer that holds the tokens, when they are not at its top.",
        example: "data.0",
      },
      checkMemberPath,
    ).optional(),
    error_member: text(
      {
        type: "member, or a path to it",
        description: "The member of a refusal that holds the vendor's error code, when that is not `error`.",
        example: "error.code",
      },
      checkMemberPath,
    ).optional(),
    token_errors: mapOf(
      {
        type: "mapping of error codes",
        description:
          "What the vendor's own error codes mean, at its token and revocation endpoint. Beside a registry vendor's own codes.",
        example: "{ token_dead: invalid_grant }",
        default: "{}",
      },
      checkErrorCode,
      tokenErrorSchema,
    ).optional(),
    iss_required: flag({
      description: "Whether its callbacks must carry `iss`.",
      example: "true",
      default: "as its metadata says",
    }).optional(),
    id_token_algs: listOf(
      choice({ description: "A signature algorithm.", example: "RS256" }, ID_TOKEN_ALGS),
      {
        type: "list of asymmetric algorithms",
        description: "Accepted signatures of ID tokens.",
        example: "[RS256]",
        default: "[RS256, ES256, PS256, EdDSA, Ed25519]",
      },
      1,
    ).optional(),
    additional_audiences: flag({
      description: "Whether its ID tokens name further audiences; then `azp` has to be ours.",
      example: "true",
      default: "false",
    }).optional(),
    rotates_refresh_tokens: flag({
      description: "Whether a refresh replaces the refresh token.",
      example: "true",
    }).optional(),
    callback_params: listOf(
      text(
        {
          type: "parameter name",
          description: "A callback parameter.",
          example: "realmId",
          keywords: { not: { enum: [...CALLBACK_OWN_PARAMETERS] } },
        },
        (name) => (CALLBACK_OWN_PARAMETERS.has(name) ? "is a parameter the broker reads itself" : undefined),
      ),
      {
        type: "list of names",
        description: "Further callback parameters handed on in `vendor_data`.",
        example: "[realmId]",
        default: "[]",
      },
    ).optional(),
    placeholders: mapOf(
      {
        type: "mapping of names to sections",
        description:
          "The {placeholders} of its endpoints, filled by each request: one label of a host, one segment of a path, a value of a query.",
        example: '{ tenant: { pattern: "[a-z0-9]+", default: common } }',
        default: "{}",
      },
      checkPlaceholderName,
      placeholderSchema,
    ).optional(),
    clients_of: choice(
      {
        description:
          "Who issues its clients. `vendor`: one client is good at every tenant. `tenant`: at the tenant that issued it, so that the broker's credentials are used at the values under `placeholders` alone.",
        example: "vendor",
        default:
          "as the registry says; else `tenant` where a placeholder without a list of values is in a host that receives the client secret",
      },
      ["vendor", "tenant"],
    ).optional(),
    credentials: oneOrList(
      credentialsSchema,
      {
        type: "one entry or a list",
        description:
          "What we are registered as. The first is used for new flows, the rest refresh and revoke only; where each tenant issues its own clients, the first that is used at the tenant. Without any: VENDOR_<ID>_CLIENT_ID and VENDOR_<ID>_CLIENT_SECRET.",
      },
      checkCredentialIds,
    ).optional(),
    initial_access_token: secretText(
      {
        type: "secret",
        description:
          "Sent with dynamic client registration at this vendor, where neither the request nor the client's owner has one.",
        example: "env:NOTION_IAT",
      },
      checkToken,
    )
      .transform((value) => new Secret(value))
      .optional(),
    setup: choice(
      { description: "What must happen before it works for an organization.", example: "none", default: "none" },
      ["none", "vendor_approval", "environment_id"],
    ).optional(),
    enabled: flag({
      description: "`false` hides the vendor, as if it were unknown.",
      example: "true",
      default: "true",
    }).optional(),
    accepts_new_authorizations: flag({
      description: "`false` refuses new flows; refresh and revoke still work.",
      example: "true",
      default: "true",
    }).optional(),
  });
}

export type ParsedVendor = z.infer<ReturnType<typeof vendorSchema>>;

function checkScope(value: string): string | undefined {
  return isScopeToken(value) ? undefined : "must be one scope without spaces, quotes and backslashes";
}
