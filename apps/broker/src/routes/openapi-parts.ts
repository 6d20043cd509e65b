/** What the operations of openapi.ts share: bodies, answers, parameters, redirects, examples. */
import { type Members, type Schema, SCHEMAS, shape, text } from "./openapi-schemas.ts";

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const answer = (name: string): Schema => ({ $ref: `#/components/responses/${name}` });

/** @param example a whole body, as a caller would send it */
export const form = (
  members: Members,
  required: readonly string[],
  examples: Record<string, Record<string, string>>,
): Schema => ({
  required: true,
  content: {
    "application/x-www-form-urlencoded": { schema: shape(required, members), examples: examplesOf(examples) },
  },
});

export const json = (description: string, schema: Schema, example?: unknown): Schema => ({
  description,
  content: { "application/json": { schema, ...(example === undefined ? {} : { example }) } },
});

const header = (name: string, type: string, description: string) => ({
  headers: { [name]: { description, schema: { type } } },
});
/** Whose members another document has. */
export const OBJECT: Schema = { type: "object" };
/** A page, for readers. */
export const page = (description: string): Schema => ({
  description,
  content: { "text/html": { schema: { type: "string" } } },
});
const examplesOf = (examples: Record<string, unknown>): Schema =>
  Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));

/** A refusal of each status, and of headers that are too large: of every operation, also of one that reads nothing. */
const refusals = (nameOf: (status: number) => string, statuses: readonly number[]): Record<string, Schema> => ({
  ...Object.fromEntries(statuses.map((status) => [status, answer(nameOf(status))])),
  "431": answer("HeadersTooLarge"),
});
const ERRORS: Readonly<Record<number, string>> = { 401: "NotAuthenticated", 429: "RepeatLater", 503: "RepeatLater" };
export const errors = (...statuses: readonly number[]): Record<string, Schema> =>
  refusals((status) => ERRORS[status] ?? "Error", statuses);
/** Shown to a browser. */
export const pages = (...statuses: readonly number[]): Record<string, Schema> => refusals(() => "Page", statuses);

const redirect = (description: string, location: string, example: string, format = "uri") => ({
  description,
  headers: { Location: { description: location, schema: { type: "string", format }, example } },
});

const RESPONSES: Record<string, Schema> = {
  Error: json("The request was refused. `error` says why, in a code of RFC 6749 or of docs/api.md.", ref("Error"), {
    error: "invalid_request",
    error_description: "code_challenge_method must be S256",
    flow_id: "q5Yz0mJ2Wb8sVtKfN1xR4A",
  }),
  NotAuthenticated: {
    ...json("The client is not who it says it is.", ref("Error"), {
      error: "invalid_client",
      error_description: "Client authentication failed",
    }),
    ...header("WWW-Authenticate", "string", "The scheme that the client may authenticate with."),
  },
  RepeatLater: {
    ...json("Too many requests, or the vendor, the store or the keys are down.", ref("Error"), {
      error: "temporarily_unavailable",
      error_description: "The vendor does not respond",
    }),
    ...header("Retry-After", "integer", "When to try again, in seconds."),
  },
  HeadersTooLarge: page("The headers of the request have more than 32 KiB."),
  Page: page("A page that says what happened, and leads back if there is a way."),
};

/** The caller's own credentials at the vendor, and its own endpoints. */
const OWN: Members = {
  vendor_client_id: text("The caller's own client at the vendor (BYOC). Without a secret it is a public one.", {
    maxLength: 2048,
  }),
  vendor_client_secret: text("The secret of that client. It travels with each call that needs it, and is never kept.", {
    maxLength: 2048,
  }),
  placeholders:
    "A JSON object of strings. They fill the {placeholders} of the vendor's endpoints, or of those given here.",
  issuer: "The vendor's issuer (manual mode). The endpoints then come from its metadata alone.",
  authorization_endpoint: "The vendor's authorization endpoint (manual mode). Empty means the entry's own.",
  token_endpoint: "The vendor's token endpoint (manual mode). Empty means the entry's own.",
};

export const PUSHED: Members = {
  response_type: text("Always code.", { enum: ["code"] }),
  vendor: "A vendor's id of /v1/vendors. It may be left out, or be custom, if issuer or both endpoints are given.",
  redirect_uri: "One of the client's registered URIs, character for character.",
  code_challenge: text("The challenge of PKCE #1, BASE64URL(SHA-256(code_verifier)).", {
    minLength: 43,
    maxLength: 43,
  }),
  code_challenge_method: text("Always S256.", { enum: ["S256"] }),
  state: text("The client's state, which the broker returns byte for byte.", { maxLength: 4096 }),
  scope: "Scopes are separated by spaces. Without them the vendor's default scopes are requested.",
  login_hint: "Sent to the vendor unchanged.",
  prompt: "Sent to the vendor unchanged.",
  resource: "An absolute URI without a fragment (RFC 8707).",
  vendor_params:
    "A JSON object of strings with further authorization parameters. Names that OAuth reserves are refused.",
  ...OWN,
};

export const AUTHENTICATION: Members = {
  client_id: "The client that authenticates.",
  client_secret: "The client's secret, for client_secret_post.",
  client_assertion_type: "This is urn:ietf:params:oauth:client-assertion-type:jwt-bearer, for private_key_jwt.",
  client_assertion:
    "The client's signed JWT, for private_key_jwt. Its aud is the issuer, it lives 60 s at most, and its jti works once.",
};

export const CONNECTION =
  "The connection as it came with the token. It names what issued the token. A sealed refresh token may be sent instead. It is required if clients of several owners share the vendor client.";

export const WHAT_MINTED: Members = {
  connection: CONNECTION,
  vendor: "The vendor, instead of connection, with the parameters below as the flow had them.",
  ...OWN,
};

export const COMPONENTS: Schema = {
  schemas: SCHEMAS,
  responses: RESPONSES,
  securitySchemes: {
    clientBasic: {
      type: "http",
      scheme: "basic",
      description:
        "HTTP Basic (client_secret_basic). The form parameters of client_secret_post and private_key_jwt may be sent instead.",
    },
    clientAssertion: {
      type: "http",
      scheme: "bearer",
      description: "At /register, whose body is not a form, the token is the client assertion of private_key_jwt.",
    },
  },
};

export const CALLBACK = "https://acme.platform.example/oauth/vendor-callback";

export const TO_VENDOR = redirect(
  "The browser goes on.",
  "The vendor's authorization URL, or the client's redirect URI with an error.",
  "https://vendor.example/oauth/authorize?response_type=code",
);
const TO_CLIENT = redirect(
  "The browser goes back to the client.",
  "The client's redirect URI, with code, state and iss, or with an error.",
  `${CALLBACK}?code=…&state=…&iss=…`,
);
const TO_GET = redirect(
  "The browser repeats the answer by GET, so that its cookie is present.",
  "The same path, with what was posted as its query.",
  "/v1/callback?code=…&state=…",
  "uri-reference",
);

/** No client has to authenticate. */
export const OPEN = { security: [] };

/** @param example of a value that is not made by the broker */
export const query = (name: string, description: string, extra: Schema = {}, example?: string): Schema => ({
  name,
  in: "query",
  required: false,
  description,
  schema: { type: "string", ...extra },
  ...(example === undefined ? {} : { example }),
});
export const inPath = (name: string, description: string, example?: string): Schema => ({
  ...query(name, description, {}, example),
  in: "path",
  required: true,
});
export const callback = (operationId: string, summary: string): Schema => ({
  get: {
    operationId,
    summary,
    ...OPEN,
    parameters: [
      query("code", "The vendor's code."),
      query("state", "The broker's state, which it sent to the vendor."),
      query("iss", "The vendor's issuer (RFC 9207), if it sends one."),
      query("error", "The vendor's error, if it sends no code."),
      query("error_description", "The vendor's description of the error."),
    ],
    responses: { "303": TO_CLIENT, ...pages(400, 403, 500, 503) },
  },
  post: {
    operationId: `${operationId}FormPost`,
    summary: `${summary}, by form_post`,
    ...OPEN,
    requestBody: form({ code: "The vendor's code.", state: "The broker's state." }, [], {
      code: { code: "…", state: "…" },
    }),
    responses: { "303": TO_GET, ...pages(400, 413, 415, 500, 503) },
  },
});
