/**
 * What an entry of catalogue.json may look like, member by member: the file is read as it is, so a
 * test has to guarantee its type. Used by registry/catalogue.test.ts.
 */
const TEXTS = new Set([
  "name",
  "issuer",
  "scopeSeparator",
  "status",
  "id",
  "tokenResponseMember",
  "adjudicated",
  "ended",
  "responseType",
  "callbackCodeName",
  "redirectUriAlias",
  "errorMember",
]);
/** Members that are one https address. */
export const URLS: ReadonlySet<string> = new Set(
  ["authorization", "token", "refresh", "revocation", "registration", "userinfo"].map((name) => `${name}Endpoint`),
)
  .add("jwksUri")
  .add("defaultResource")
  .add("serverUrl");
const LISTS = new Set([
  "defaultScopes",
  "offlineScopes",
  "sources",
  "disagreements",
  "unsupported",
  "callbackParams",
  "echoedCallbackParams",
  "refreshCallbackParams",
  "quirks",
  "superseded",
  "aliases",
  "recalled",
]);
const RECORDS = new Set([
  "authorizationParams",
  "codeExchangeParams",
  "refreshParams",
  "tokenResponseNames",
  "tokenHeaders",
]);
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  pkce: ["plain", "none"],
  endpointsFrom: ["metadata", "metadata, else stored"],
  tokenEndpointAuthMethod: ["client_secret_basic", "client_secret_post", "none"],
  tokenRequestBody: ["json"],
  rotatesRefreshTokens: [true, false],
  issuesRefreshTokens: [false],
  issuesIdTokens: [false],
  additionalAudiences: [true],
  selfHosted: [true],
  secretIsUserName: [true],
  repeatsState: [true],
  defaultLifetimeSeconds: [3600],
  issuerSpelling: ["bare"],
  revokes: ["access_token", "refresh_token"],
  confidence: ["high", "medium", "low"],
};

const isSignedSecret = (value: unknown): boolean => {
  const { kind, audience, alg, lifetimeSeconds, ...rest } = value as Record<string, unknown>;
  const isShort = Number.isInteger(lifetimeSeconds) && Number(lifetimeSeconds) > 0 && Number(lifetimeSeconds) <= 600;
  const isKnown = kind === "signed_jwt" && alg === "ES256" && String(audience).startsWith("https://");
  return isKnown && isShort && Object.keys(rest).length === 0;
};

/** Members of an object, and what each may be: a list of values, or a test. */
const SHAPES: Readonly<Record<string, Readonly<Record<string, readonly unknown[] | ((value: unknown) => boolean)>>>> = {
  revocation: {
    method: ["POST", "DELETE"],
    authentication: ["basic", "bearer", "none"],
    body: ["form", "json", "query", "none"],
    tokenParameter: (value) => isText(value),
    ends: ["token", "grant"],
    goneStatuses: (value) => Array.isArray(value) && value.every(Number.isInteger),
    goneErrors: (value) => value === undefined || (Array.isArray(value) && value.every(isText)),
  },
  account: {
    endpoint: (value) => isUrl(value),
    method: ["GET", "POST"],
    body: (value) => value === undefined || isObject(value),
    headers: (value) =>
      value === undefined ||
      (isObject(value) && Object.keys(value).every(isHeader) && Object.values(value).every(isText)),
    token: (value) => value === undefined || TOKEN_PLACES.some((shape) => isOfShape(value, shape)),
    member: (value) => value === undefined || isPath(value),
    refusal: (value) => value === undefined || isOfShape(value, { member: isPath, values: areTexts }),
    identity: (value) => value === undefined || arePaths(value),
    scopeHeader: (value) => value === undefined || isHeader(value),
  },
  tokenExpiry: { member: (value) => isText(value), unit: ["seconds", "milliseconds", "date"] },
  tokenResult: { member: (value) => isText(value), success: (value) => Array.isArray(value) },
};

/** `authorization`, or a header or parameter of the vendor's own. */
const TOKEN_PLACES: readonly (typeof SHAPES)[string][] = [
  { in: ["header"], name: (value) => value === undefined || isHeader(value), scheme: (value) => isTextIfAny(value) },
  { in: ["query"], name: (value) => isText(value) },
];

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isUrl = (value: unknown): boolean => /^https:\/\/[^\s#:@/?]+([/?][^\s]*)?$/.test(String(value));

/** Names with dots between them; digits are a position in a list. */
const isPath = (value: unknown): boolean => typeof value === "string" && /^[\w:/-]+(\.[\w:/-]+)*$/.test(value);

const arePaths = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isPath);

/** A separator is a blank or a comma. */
const SCOPE_REFUSALS: readonly (typeof SHAPES)[string][] = [
  { from: ["challenge"] },
  { from: ["headers"], status: [403], accepted: isHeader, granted: isHeader, separator: [" ", ","] },
  {
    from: ["body"],
    status: [200, 400, 403],
    member: (value) => isText(value),
    values: (value) => areTexts(value),
    scopes: (value) => isText(value),
    separator: [" ", ","],
  },
];

const areTexts = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isText);

const PLACEHOLDER_SHAPE: (typeof SHAPES)[string] = {
  description: (value) => isText(value),
  kind: [undefined, "host"],
  default: (value) => isTextIfAny(value),
  pattern: (value) => value === undefined || (typeof value === "string" && isText(value) && !/^\^|\$$/.test(value)),
  values: (value) => value === undefined || areTexts(value),
  suffix: (value) =>
    value === undefined || (areTexts(value) && (value as string[]).every((end) => /^(\.[a-z0-9-]+)+$/.test(end))),
  follows: (value) => value === undefined || typeof value === "object",
};
const TOKEN_IDENTITY: (typeof SHAPES)[string] = { from: ["id_token", "token_response"], members: arePaths };
const CHECK_SHAPE: (typeof SHAPES)[string] = {
  checkedOn: (value) => /^20\d\d-[01]\d-[0-3]\d$/.test(String(value)),
  source: (value) => isText(value),
};
const isTextIfAny = (value: unknown): boolean => value === undefined || isText(value);
const TOKEN_ERROR_RULE: (typeof SHAPES)[string] = {
  ...Object.fromEntries(["member", "value", "prefix"].map((name) => [name, isTextIfAny])),
  means: (value) => isText(value),
};
const isTokenError = (value: unknown): boolean =>
  Array.isArray(value) ? value.every((rule) => isOfShape(rule, TOKEN_ERROR_RULE)) : isText(value);
const SUNSET_SHAPE: (typeof SHAPES)[string] = {
  endsOn: (value) => isText(value),
  what: (value) => isText(value),
  urls: (value) => value === undefined || areTexts(value),
  source: (value) => isText(value),
};
const isPlaceholder = (value: unknown): boolean => isText(value) || isOfShape(value, PLACEHOLDER_SHAPE);
const isOfShape = (value: unknown, shape: (typeof SHAPES)[string]): boolean => {
  const members = value as Record<string, unknown>;
  const fits = Object.entries(shape).every(([name, allowed]) =>
    typeof allowed === "function" ? allowed(members[name]) : allowed.includes(members[name]),
  );
  return fits && Object.keys(members).every((name) => Object.hasOwn(shape, name));
};

const isText = (value: unknown): boolean => typeof value === "string" && value.length > 0 && !/\p{Cc}/u.test(value);

function isHeader(value: unknown): boolean {
  return typeof value === "string" && /^[a-z-]+$/.test(value);
}

/** @returns the members of an entry that it does not have, or whose values they may not have */
export function problemsOf(entry: object): string[] {
  return Object.entries(entry).flatMap(([field, value]: [string, unknown]): string[] => {
    if (field === "vendor") return problemsOf(value as object);
    const allowed = VALUES[field];
    if (allowed !== undefined) return allowed.includes(value) ? [] : [field];
    if (URLS.has(field)) return isUrl(value) ? [] : [field];
    if (field === "identity") return value === "unknown" || isOfShape(value, TOKEN_IDENTITY) ? [] : [field];
    if (TEXTS.has(field)) return isText(value) ? [] : [field];
    if (field === "clientsOf") return isOfShape(value, { value: ["vendor"], source: isText }) ? [] : [field];
    if (field === "checks")
      return Object.values(value as object).every((one) => isOfShape(one, CHECK_SHAPE)) ? [] : [field];
    if (field === "sunsets")
      return Array.isArray(value) && value.every((one) => isOfShape(one, SUNSET_SHAPE)) ? [] : [field];
    const shape = SHAPES[field];
    if (shape !== undefined) return isOfShape(value, shape) ? [] : [field];
    // An empty name leaves the parameter out.
    if (field === "parameterNames" || field === "authorizationParameterNames")
      return Object.values(value as object).every((name) => typeof name === "string") ? [] : [field];
    if (field === "tokenErrors") return Object.values(value as object).every(isTokenError) ? [] : [field];
    if (field === "scopeRefusal") return SCOPE_REFUSALS.some((shape) => isOfShape(value, shape)) ? [] : [field];
    if (field === "clientSecret") return isSignedSecret(value) ? [] : [field];
    if (LISTS.has(field)) return Array.isArray(value) && value.length > 0 && value.every(isText) ? [] : [field];
    if (field === "placeholders") return Object.values(value as object).every(isPlaceholder) ? [] : [field];
    if (RECORDS.has(field)) return Object.values(value as object).every(isText) ? [] : [field];
    return field === "agreeing" && Number.isInteger(value) ? [] : [field];
  });
}
