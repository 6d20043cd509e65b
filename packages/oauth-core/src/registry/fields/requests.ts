/** The rows of the fields that say how a vendor departs from the standard in its requests. */
import { isReservedAuthorizationParameter } from "../../protocol/parameters.ts";
import type { Vendor } from "../vendor.ts";
import { checkHeaderName, checkHeaderValue, checkScope, checkSentence } from "./checks.ts";
import type { Rows } from "./endpoints.ts";
import type { ListShape, MapShape, TextShape } from "./shape.ts";

const TEXT = { is: "text" } as const satisfies TextShape;
const TEXTS = { is: "list", of: TEXT } as const satisfies ListShape;
const NAMES = { is: "map", of: { is: "text", as: "parameter" } } as const satisfies MapShape;

const PARAMETERS = {
  is: "map",
  of: { is: "text", as: "parameter" },
} as const satisfies MapShape;

export const REQUEST_FIELDS = {
  pkce: {
    is: "choice",
    values: ["S256", "plain", "none"],
    description: "What the vendor does with PKCE.",
    example: "S256",
    default: "S256",
    by: ["catalogue", "file"],
    bindsFlow: true,
    explained: { as: "pkce" },
  },
  scopeSeparator: {
    is: "choice",
    values: [" ", ",", "+", ";"],
    description: "What stands between scopes.",
    example: '","',
    default: '" "',
    by: ["catalogue", "file"],
  },
  scopeParameter: { ...TEXT, by: [] },
  defaultScopes: {
    is: "list",
    of: { is: "text", type: "scope", description: "One scope.", example: "read", check: checkScope },
    mayBeEmpty: true,
    type: "list of scopes",
    description: "Asked for when a request names none.",
    example: "[read]",
    default: "[]",
    by: ["catalogue", "file"],
  },
  scopeMeanings: { is: "map", name: checkScope, of: { is: "text", check: checkSentence }, by: ["catalogue"] },
  offlineScopes: { ...TEXTS, by: ["catalogue"] },
  resource: { is: "choice", values: ["send", "omit"], by: ["catalogue"] },
  defaultResource: { is: "url", by: ["catalogue"] },
  parameterNames: { ...NAMES, by: ["catalogue"] },
  authorizationParameterNames: { ...NAMES, by: ["catalogue"] },
  authorizationParams: {
    ...PARAMETERS,
    type: "mapping of names to texts",
    description: "Fixed parameters of every authorization request.",
    example: "{ access_type: offline }",
    default: "{}",
    operatorsName: (name: string) =>
      isReservedAuthorizationParameter(name) ? "is a parameter only the broker sets" : undefined,
    by: ["catalogue", "file"],
  },
  redirectUriAlias: { ...TEXT, by: ["catalogue"] },
  responseType: { ...TEXT, by: ["catalogue"] },
  codeExchangeParams: { ...PARAMETERS, by: ["catalogue"] },
  refreshParams: { ...PARAMETERS, by: ["catalogue"] },
  authorizationCodeLifetimeSeconds: {
    is: "number",
    least: 1,
    most: 3600,
    type: "seconds",
    description: "How long the vendor's codes live, where it is known.",
    example: "60",
    by: ["file"],
  },
  redeemAt: {
    is: "choice",
    values: ["token", "callback"],
    description: "`callback` for codes that expire too soon to be parked.",
    example: "token",
    default: "token",
    by: ["file"],
    explained: { as: "redeem_at" },
  },
  tokenEndpointAuthMethod: {
    is: "choice",
    values: ["client_secret_basic", "client_secret_post", "none"],
    description: "How we prove ourselves to the vendor.",
    example: "client_secret_post",
    default: "client_secret_basic",
    by: ["catalogue", "file"],
    bindsFlow: true,
    explained: { as: "client_authentication" },
  },
  statesAuthMethod: { is: "flag", by: [] },
  secretIsUserName: { is: "flag", by: ["catalogue"] },
  clientSecret: {
    is: "object",
    by: ["catalogue"],
    members: {
      kind: { is: "choice", values: ["signed_jwt"] },
      audience: { is: "url" },
      alg: { is: "choice", values: ["ES256"] },
      lifetimeSeconds: { is: "number", least: 1, most: 600 },
    },
  },
  clientAssertion: { is: "object", by: [], members: { alg: { is: "choice", values: ["PS256"] } } },
  tokenRequestBody: {
    is: "choice",
    values: ["form", "json"],
    description: "How token requests are written.",
    example: "form",
    default: "form",
    by: ["catalogue", "file"],
    explained: { as: "token_request_body" },
  },
  tokenHeaders: {
    is: "map",
    names: "lower case",
    name: checkHeaderName,
    of: { is: "text", type: "text", description: "The value.", example: "2026-11-01", check: checkHeaderValue },
    type: "mapping of names to texts",
    description:
      "Further headers of token requests, for example an API key. Never sent to an endpoint of which a request names a part.",
    example: '{ x-api-version: "2026-11-01" }',
    default: "{}",
    by: ["catalogue", "file"],
  },
  repeatsState: { is: "flag", by: ["catalogue"] },
  echoedCallbackParams: { ...TEXTS, by: ["catalogue"] },
  refreshCallbackParams: { ...TEXTS, by: ["catalogue"] },
  choosesAccount: { is: "flag", by: [] },
} as const satisfies Partial<Rows<keyof Vendor>>;
