/** The rows of the fields that say how a vendor departs from the standard in its answers. */
import type { OAuthErrorCode } from "../../protocol/errors.ts";
import {
  checkCallbackParameter,
  checkErrorCode,
  checkHeaderName,
  checkMemberPath,
  checkTokenName,
  OWN_CALLBACK_PARAMETERS,
} from "./checks.ts";
import {
  ENDPOINT_FIELDS,
  EXPIRY,
  IDENTITY_MEMBERS,
  PARAMETERS,
  TEXT,
  TEXTS,
  choice,
  flag,
  path,
  text,
} from "./endpoints.ts";
import type { ChoiceShape, Field, NumberShape } from "./shape.ts";

const API_STATUS = { is: "number", least: 200, most: 599 } as const satisfies NumberShape;
/** Our codes that an error of a vendor's token or revocation endpoint can mean. */
export const TOKEN_ERROR_CODES = [
  "invalid_grant",
  "invalid_scope",
  "temporarily_unavailable",
  "vendor_credentials_rejected",
  "vendor_response_invalid",
] as const satisfies readonly OAuthErrorCode[];
/** The same for an error on the callback. */
export const CALLBACK_ERROR_CODES = [
  "access_denied",
  "invalid_scope",
  "server_error",
  "temporarily_unavailable",
  "vendor_credentials_rejected",
] as const satisfies readonly OAuthErrorCode[];
const OF_ACCOUNT = ENDPOINT_FIELDS.account.members;
const SEPARATOR = { is: "choice", values: [" ", ","] } as const satisfies ChoiceShape;

export const ANSWER_FIELDS = {
  tokenResponseMember: path(
    "The member of a token answer that holds the tokens, when they are not at its top.",
    "data.0",
    { by: ["catalogue", "file"] },
  ),
  tokenResponseNames: { ...PARAMETERS, by: ["catalogue"] },
  tokenExpiry: { ...EXPIRY, by: ["catalogue"] },
  defaultLifetimeSeconds: { is: "number", least: 1, most: 31_536_000, by: ["catalogue"] },
  defaultRefreshLifetimeSeconds: { is: "number", least: 1, most: 31_536_000, by: ["catalogue"] },
  tokenResult: {
    is: "object",
    by: ["catalogue"],
    members: { member: TEXT, success: { is: "list", of: { is: "json" }, mayBeEmpty: true } },
  },
  readTokenResponse: { is: "code", by: [] },
  errorMember: path(
    "The member of a refusal that holds the vendor's error code, when that is not `error`.",
    "error.code",
    { by: ["catalogue", "file"] },
  ),
  tokenErrors: {
    is: "map",
    name: checkErrorCode,
    type: "mapping of error codes",
    description:
      "What the vendor's own error codes mean, at its token and revocation endpoint. Beside a registry vendor's own codes.",
    example: "{ token_dead: invalid_grant }",
    default: "{}",
    of: {
      is: "list",
      short: "means",
      type: `${TOKEN_ERROR_CODES.join(" | ")}, or a list of rules`,
      description: "What the code means: always, or by the first rule whose every condition holds.",
      example: "invalid_grant",
      of: {
        is: "object",
        members: {
          status: {
            ...API_STATUS,
            optional: true,
            type: "status",
            description: "The HTTP status of the answer.",
            example: "400",
          },
          member: path("The member of the answer that `value` and `prefix` are about.", "error_description", {
            optional: true,
            default: "error_description",
          }),
          value: text("The whole value of the member.", "Token revoked", { optional: true }),
          prefix: text("How the value of the member begins.", "Rate limit exceeded", { optional: true }),
          means: choice(TOKEN_ERROR_CODES, "Our code for it.", { example: "temporarily_unavailable" }),
        },
      },
    },
    by: ["catalogue", "file"],
  },
  callbackErrors: { is: "map", of: { is: "choice", values: CALLBACK_ERROR_CODES }, by: ["catalogue"] },
  classifyError: { is: "code", by: [] },
  issRequired: flag("Whether its callbacks must carry `iss`.", { default: "as its metadata says", by: ["file"] }),
  issuesIdTokens: { is: "flag", by: ["catalogue"] },
  idTokenAlgs: {
    is: "list",
    of: choice(
      ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
      "A signature algorithm.",
    ),
    type: "list of asymmetric algorithms",
    description: "Accepted signatures of ID tokens.",
    example: "[RS256]",
    default: "[RS256, ES256, PS256, EdDSA, Ed25519]",
    by: ["file"],
  },
  additionalAudiences: flag("Whether its ID tokens name further audiences; then `azp` has to be ours.", {
    default: "false",
    by: ["catalogue", "file"],
  }),
  identity: {
    is: "one of",
    type: "section, or unknown",
    description:
      "What names the user in the tokens themselves, so that no request is needed. `unknown`: nothing in them does, and the account is asked.",
    example: "{ from: token_response, members: [team.id, user_id] }",
    of: [
      { is: "choice", values: ["unknown"] },
      {
        is: "object",
        members: {
          from: choice(["id_token", "token_response"], "What names the user.", { example: "token_response" }),
          members: IDENTITY_MEMBERS,
        },
      },
    ],
    by: ["catalogue", "file"],
    variable: {
      name: "VENDOR_IDENTITY",
      type: "paths of members, separated by commas",
      description:
        "The members of the vendor's account that identify a user permanently and among all users of the vendor, joined if there are several: never an e-mail address or a login, which another user may have one day. Links are stored under it.",
      example: "team.id,user.id",
    },
    explained: { as: "identity" },
  },
  identifies: choice(
    ["organization"],
    "`organization`: what is identified is a shop or a company's account, which its users share, so that it signs none of them in.",
    { by: ["catalogue", "file"], explained: { as: "identifies" } },
  ),
  issuesRefreshTokens: { is: "flag", by: ["catalogue"] },
  rotatesRefreshTokens: flag("Whether a refresh replaces the refresh token.", { by: ["catalogue", "file"] }),
  callbackCodeName: { ...TEXT, by: ["catalogue"] },
  callbackParams: {
    is: "list",
    of: text("A callback parameter.", "realmId", {
      type: "parameter name",
      check: checkCallbackParameter,
      except: OWN_CALLBACK_PARAMETERS,
    }),
    mayBeEmpty: true,
    type: "list of names",
    description: "Further callback parameters handed on in `vendor_data`.",
    example: "[realmId]",
    default: "[]",
    by: ["catalogue", "file"],
  },
  revocation: {
    is: "object",
    type: "section",
    description: "How a token is revoked at `revocation_endpoint`, if that is not by RFC 7009.",
    example:
      "{ method: DELETE, authentication: basic, body: json, token_parameter: access_token, gone_statuses: [404] }",
    by: ["catalogue", "file"],
    explained: { as: "revocation" },
    members: {
      method: choice(["POST", "DELETE", "GET"], "The method of the request.", {
        example: "DELETE",
        default: "POST",
        absent: "POST",
      }),
      authentication: choice(
        ["basic", "bearer", "none"],
        "`basic`: our client id and secret. `bearer`: the token that is to be revoked.",
      ),
      body: choice(["form", "json", "query", "none"], "Where the token is; `none`: in a header alone.", {
        example: "json",
      }),
      tokenParameter: text("The name of the token there.", "access_token", {
        type: "name",
        default: "token",
        absent: "token",
        check: checkTokenName,
      }),
      parameters: {
        ...OF_ACCOUNT.form,
        description: "Beside the token. In a value `{client_id}`, `{client_secret}` and `{token}` are filled.",
      },
      headers: {
        ...OF_ACCOUNT.headers,
        name: (name) => (name.toLowerCase() === "authorization" ? undefined : checkHeaderName(name)),
        description: "Headers, whose values are filled in the same way.",
        example: '{ x-access-token: "{token}" }',
      },
      success: { ...OF_ACCOUNT.refusal, description: "What every success of status 200 says." },
      ends: choice(["token", "grant"], "`grant`: all tokens of the user and this client end with it.", {
        example: "grant",
        default: "token",
        absent: "token",
      }),
      goneStatuses: {
        is: "list",
        type: "list of statuses",
        of: { ...API_STATUS, type: "status", description: "An HTTP status.", example: "404" },
        mayBeEmpty: true,
        description: "Statuses that mean: unknown or already revoked.",
        example: "[404]",
        default: "[]",
        absent: [],
      },
      goneErrors: {
        is: "list",
        optional: true,
        type: "list of texts",
        of: text("An error code.", "token_revoked", { check: checkErrorCode }),
        mayBeEmpty: true,
        description: "Error codes of the same meaning.",
        example: "[token_revoked]",
        default: "[]",
      },
    },
  },
  revokes: { is: "choice", values: ["access_token", "refresh_token", "either"], by: ["catalogue"] },
  revocationHelp: { ...TEXT, by: [] },
  scopeRefusal: {
    is: "one of",
    of: [
      { is: "object", members: { from: { is: "choice", values: ["challenge"] } } },
      {
        is: "object",
        members: {
          from: { is: "choice", values: ["headers"] },
          status: API_STATUS,
          accepted: TEXT,
          granted: TEXT,
          separator: SEPARATOR,
        },
      },
      {
        is: "object",
        members: {
          from: { is: "choice", values: ["body"] },
          status: API_STATUS,
          member: { ...TEXT, check: checkMemberPath },
          values: TEXTS,
          scopes: { ...TEXT, check: checkMemberPath },
          separator: SEPARATOR,
        },
      },
    ],
    by: ["catalogue"],
  },
  id: { ...TEXT, by: [] },
  name: { ...TEXT, by: [] },
  enabled: flag("`false` hides the vendor, as if it were unknown.", { default: "true", by: ["file"] }),
  acceptsNewAuthorizations: flag("`false` refuses new flows; refresh and revoke still work.", {
    default: "true",
    by: ["file"],
  }),
} as const satisfies Record<string, Field>;
