/** The rows of the fields that say how a vendor departs from the standard in its requests. */
import { isReservedAuthorizationParameter } from "../../protocol/parameters.ts";
import { checkScope, checkSentence } from "./checks.ts";
import { PARAMETERS, TEXT, TEXTS, choice, HEADERS, text } from "./endpoints.ts";
import type { Field } from "./shape.ts";

export const REQUEST_FIELDS = {
  pkce: choice(["S256", "plain", "none"], "What the vendor does with PKCE.", {
    default: "S256",
    by: ["catalogue", "file"],
    bindsFlow: true,
    explained: { as: "pkce" },
  }),
  scopeSeparator: choice([" ", ",", "+", ";"], "What stands between scopes.", {
    example: '","',
    default: '" "',
    by: ["catalogue", "file"],
  }),
  scopeParameter: { ...TEXT, by: [] },
  defaultScopes: {
    is: "list",
    of: text("One scope.", "read", { type: "scope", check: checkScope }),
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
  parameterNames: { ...PARAMETERS, by: ["catalogue"] },
  authorizationParameterNames: { ...PARAMETERS, by: ["catalogue"] },
  authorizationParams: {
    ...PARAMETERS,
    type: "mapping of names to texts",
    description: "Fixed parameters of every authorization request; `response_mode` may be `query` or `form_post`.",
    example: "{ access_type: offline }",
    default: "{}",
    operatorsName: (name: string) =>
      name !== "response_mode" && isReservedAuthorizationParameter(name)
        ? "is a parameter only the broker sets"
        : undefined,
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
  redeemAt: choice(["token", "callback"], "`callback` for codes that expire too soon to be parked.", {
    default: "token",
    by: ["file"],
    explained: { as: "redeem_at" },
  }),
  tokenEndpointAuthMethod: choice(
    ["client_secret_basic", "client_secret_post", "none"],
    "How we prove ourselves to the vendor.",
    {
      example: "client_secret_post",
      default: "client_secret_basic",
      by: ["catalogue", "file"],
      bindsFlow: true,
      explained: { as: "client_authentication" },
    },
  ),
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
  clientAssertion: { is: "code", by: [] },
  tokenRequestBody: choice(["form", "json"], "How token requests are written.", {
    default: "form",
    by: ["catalogue", "file"],
    explained: { as: "token_request_body" },
  }),
  tokenHeaders: {
    ...HEADERS,
    description:
      "Further headers of token requests, for example an API key. Never sent to an endpoint of which a request names a part.",
    default: "{}",
    by: ["catalogue", "file"],
  },
  repeatsState: { is: "flag", by: ["catalogue"] },
  echoedCallbackParams: { ...TEXTS, by: ["catalogue"] },
  refreshCallbackParams: { ...TEXTS, by: ["catalogue"] },
  choosesAccount: { is: "flag", by: [] },
} as const satisfies Record<string, Field>;
