/**
 * OpenAPI 3.1 of the broker, for tools and for readers of schemas. A test compares it with the
 * route table. Written by hand, because generators get OAuth's form bodies and redirects wrong.
 */
import { type Schema, SCHEMAS, text } from "./openapi-schemas.ts";

const form = (properties: Record<string, Schema>, required: readonly string[]): Schema => ({
  required: true,
  content: { "application/x-www-form-urlencoded": { schema: { type: "object", properties, required } } },
});
const json = (description: string, schema: Schema): Schema => ({
  description,
  content: { "application/json": { schema } },
});
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const ERRORS: Record<string, Schema> = {
  "400": { $ref: "#/components/responses/Error" },
  "401": { $ref: "#/components/responses/Error" },
  "413": { $ref: "#/components/responses/Error" },
  "415": { $ref: "#/components/responses/Error" },
  "429": { $ref: "#/components/responses/RepeatLater" },
  "500": { $ref: "#/components/responses/Error" },
  "502": { $ref: "#/components/responses/Error" },
  "503": { $ref: "#/components/responses/RepeatLater" },
};
const PAGE: Schema = { description: "A page that says what happened and leads back", content: { "text/html": {} } };
const REDIRECT: Schema = {
  description: "Redirect",
  headers: { Location: { schema: { type: "string", format: "uri" } } },
};

/** The caller's own credentials at the vendor, and its own endpoints. */
const OWN: Record<string, Schema> = {
  vendor_client_id: text("BYOC: the caller's own client at the vendor; without a secret a public one", {
    maxLength: 2048,
  }),
  vendor_client_secret: text("BYOC: its secret. Sent with each call that needs it; never kept", { maxLength: 2048 }),
  placeholders: text(
    "JSON object of strings: what fills the {placeholders} of the vendor's endpoints, or of those below",
  ),
  issuer: text("Manual mode: the vendor's issuer; endpoints come from its metadata alone"),
  authorization_endpoint: text("Manual mode: empty means the vendor's own"),
  token_endpoint: text("Manual mode: empty means the vendor's own"),
};
const PUSHED: Record<string, Schema> = {
  client_id: text("The authenticated client"),
  response_type: text("code", { enum: ["code"] }),
  vendor: text("A vendor's id, see /v1/vendors; may be left out, or custom, where issuer or both endpoints are given"),
  redirect_uri: text("One of the client's registered URIs, character for character"),
  code_challenge: text("PKCE #1: BASE64URL(SHA-256(code_verifier))", { minLength: 43, maxLength: 43 }),
  code_challenge_method: text("S256", { enum: ["S256"] }),
  state: text("Echoed byte for byte", { maxLength: 4096 }),
  scope: text("Space-separated; absent means the vendor's default scopes"),
  login_hint: text("Passed to the vendor"),
  prompt: text("Passed to the vendor"),
  resource: text("RFC 8707, an absolute URI without fragment"),
  vendor_params: text("JSON object of strings: further authorization parameters; reserved names are refused"),
  ...OWN,
};
const AUTHENTICATION: Record<string, Schema> = {
  client_secret: text("client_secret_post"),
  client_assertion_type: text("urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
  client_assertion: text("private_key_jwt: aud is the issuer, exp - iat at most 60 s, jti used once"),
};
const WHAT_MINTED: Record<string, Schema> = {
  connection: text(
    "As returned with the token; names what issued it. A sealed refresh token may stand in its place. Required where clients of several owners share the vendor client",
  ),
  vendor: text(
    "Instead of connection, for callers that kept only that; with the parameters below as the flow had them",
  ),
  ...OWN,
};

const REGISTER: Record<string, Schema> = {
  vendor: text("A vendor's id, see /v1/vendors"),
  initial_access_token: text(
    "For vendors that require one; otherwise the owner's or the vendor's of the configuration",
  ),
};

export function openApiDocument(issuer: string): Record<string, unknown> {
  const secured = [{ clientBasic: [] }, {}];
  const api = (summary: string, body: Schema, ok: Record<string, Schema>): Schema => ({
    post: { summary, security: secured, requestBody: body, responses: { ...ok, ...ERRORS } },
  });
  const open = (summary: string, ok: Schema): Schema => ({ get: { summary, responses: { "200": ok } } });
  const browserQuery = (names: readonly string[]) =>
    names.map((name) => ({ name, in: "query", required: false, schema: { type: "string" } }));
  const callback = {
    parameters: browserQuery(["code", "state", "iss", "error", "error_description"]),
    responses: { "303": REDIRECT, "400": PAGE, "503": PAGE },
  };
  return {
    openapi: "3.1.0",
    info: {
      title: "OAuth broker",
      version: "1",
      description: "One redirect URI for every vendor; see docs/versioning.md.",
    },
    servers: [{ url: issuer }],
    paths: {
      "/.well-known/oauth-authorization-server": open("RFC 8414 metadata", json("Metadata", { type: "object" })),
      "/v1/par": api(
        "Start a flow (RFC 9126)",
        form({ ...PUSHED, ...AUTHENTICATION }, [
          "client_id",
          "response_type",
          "redirect_uri",
          "code_challenge",
          "code_challenge_method",
        ]),
        {
          "201": json("The request_uri to send the user's browser to /v1/authorize with", {
            type: "object",
            required: ["request_uri", "expires_in"],
            properties: { request_uri: text("Single use"), expires_in: { type: "integer" } },
          }),
        },
      ),
      "/v1/authorize": {
        get: {
          summary: "The user's browser leaves for the vendor",
          parameters: browserQuery(["client_id", "request_uri"]),
          responses: {
            "200": {
              description:
                "Where clients of several owners share the vendor's credentials: a page that names client and owner",
              content: { "text/html": {} },
            },
            "303": REDIRECT,
            "400": PAGE,
            "503": PAGE,
          },
        },
        post: {
          summary: "What the user decided on that page: on to the vendor, or back to the client with access_denied",
          requestBody: form(
            {
              client_id: text("As in the query"),
              request_uri: text("As in the query; spent here"),
              decision: text("The button", { enum: ["approve", "deny"] }),
              csrf: text("Of this browser's page"),
            },
            ["client_id", "request_uri", "decision", "csrf"],
          ),
          responses: { "303": REDIRECT, "400": PAGE, "413": PAGE, "415": PAGE, "503": PAGE },
        },
      },
      "/v1/callback": {
        get: { summary: "The vendor sends the browser back", ...callback },
        post: {
          summary: "The same as form_post; answers a redirect to the GET",
          requestBody: form({ code: text("From the vendor"), state: text("Ours") }, []),
          responses: { "303": REDIRECT, "400": PAGE, "413": PAGE, "415": PAGE },
        },
      },
      "/v1/custom/{context}/callback": {
        parameters: [{ name: "context", in: "path", required: true, schema: { type: "string" } }],
        get: {
          summary: "The same for a vendor that the request names, which has a callback path of its own",
          ...callback,
        },
        post: {
          summary: "The same as form_post; answers a redirect to the GET",
          requestBody: form({ code: text("From the vendor"), state: text("Ours") }, []),
          responses: { "303": REDIRECT, "400": PAGE, "413": PAGE, "415": PAGE },
        },
      },
      "/v1/token": api(
        "Redeem the broker's code, or refresh",
        form(
          {
            grant_type: text("The grant", { enum: ["authorization_code", "refresh_token"] }),
            code: text("The broker's code"),
            redirect_uri: text("As pushed"),
            code_verifier: text("PKCE #1", { minLength: 43, maxLength: 128 }),
            refresh_token: text("The refresh token; a sealed one needs neither connection nor vendor beside it"),
            scope: text("For refresh: a narrower scope"),
            ...WHAT_MINTED,
            client_id: text("The client"),
            ...AUTHENTICATION,
          },
          ["grant_type"],
        ),
        {
          "200": {
            description: "The vendor's tokens; to a client with token_encrypted_response_alg the same as a compact JWE",
            content: {
              "application/json": { schema: ref("Tokens") },
              "application/jwt": { schema: text("Compact JWE, whose plaintext is Tokens as JSON") },
            },
          },
        },
      ),
      "/v1/revoke": api(
        "Revoke at the vendor (RFC 7009)",
        form(
          {
            token: text("The token"),
            token_type_hint: text("access_token or refresh_token"),
            ...WHAT_MINTED,
            ...AUTHENTICATION,
          },
          ["token"],
        ),
        {
          "200": json("What ended", {
            type: "object",
            required: ["revoked"],
            properties: { revoked: text("What ended", { enum: ["token", "grant", "already"] }) },
          }),
        },
      ),
      "/v1/check": api(
        "Is this connection still good? By the vendor's own way; nothing is kept",
        form(
          {
            access_token: text("The token; sent only to hosts that connection pins"),
            connection: WHAT_MINTED["connection"] ?? {},
            refresh_token: text("Instead of connection: a sealed refresh token"),
            scope: text("The scopes that the caller needs, space-separated"),
            vendor_client_secret: text("BYOC: with vendor_client_id, the secret again"),
            vendor_client_id: text("BYOC: as the connection has it"),
            client_id: text("The client"),
            ...AUTHENTICATION,
          },
          ["access_token"],
        ),
        { "200": json("What the vendor said of the token", ref("Check")) },
      ),
      "/v1/explain": api(
        "What a pushed request would do; stores nothing",
        form({ ...PUSHED, ...WHAT_MINTED, ...AUTHENTICATION }, []),
        {
          "200": json("Tier, endpoints, the redirect URI to register, and each value with its source", {
            type: "object",
          }),
        },
      ),
      "/v1/vendors": {
        parameters: [
          {
            name: "q",
            in: "query",
            required: false,
            schema: text("A part of an id, a name or an alias; the best matches come first", { maxLength: 64 }),
          },
        ],
        ...open(
          "All vendors, or those that a search finds",
          json("Vendors", {
            type: "object",
            required: ["vendors"],
            properties: {
              vendors: { type: "array", items: ref("Vendor") },
              did_you_mean: text("Only where a search finds none: the nearest name"),
            },
          }),
        ),
      },
      "/v1/vendors/{id}": {
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        get: {
          summary: "One vendor",
          responses: {
            "200": json("The vendor", ref("VendorDetails")),
            "404": { $ref: "#/components/responses/Error" },
          },
        },
      },
      "/register": {
        post: {
          summary: "Register a client at a vendor (RFC 7591); its answer is passed on and nothing is kept",
          security: [{ clientBasic: [] }, { clientAssertion: [] }],
          requestBody: {
            required: true,
            content: { "application/json": { schema: { type: "object", properties: REGISTER, required: ["vendor"] } } },
          },
          responses: {
            "201": json("The vendor's own answer, byte for byte, usually with client_id and client_secret", {}),
            default: {
              description:
                "The vendor's own refusal, with its status and Content-Type; or ours, which has the members of Error",
            },
            ...ERRORS,
          },
        },
      },
      "/healthz": open("Liveness", json("Alive", { type: "object" })),
      "/readyz": {
        get: {
          summary: "Readiness",
          responses: {
            "200": json("Ready", { type: "object" }),
            "503": { $ref: "#/components/responses/RepeatLater" },
          },
        },
      },
      "/metrics": open("Prometheus text", { description: "Metrics", content: { "text/plain": {} } }),
      "/openapi.json": open("This document", json("OpenAPI 3.1", { type: "object" })),
      "/favicon.ico": { get: { summary: "No icon", responses: { "204": { description: "There is none" } } } },
      "/": open("A human-readable page", { description: "HTML", content: { "text/html": {} } }),
    },
    components: {
      schemas: SCHEMAS,
      responses: {
        Error: json("What went wrong", ref("Error")),
        RepeatLater: {
          ...json("Too often, or something is down", ref("Error")),
          headers: { "Retry-After": { description: "Seconds", schema: { type: "integer" } } },
        },
      },
      securitySchemes: {
        clientBasic: {
          type: "http",
          scheme: "basic",
          description: "client_secret_basic; also client_secret_post and private_key_jwt",
        },
        clientAssertion: {
          type: "http",
          scheme: "bearer",
          description: "At /register, whose body is no form: the client assertion of private_key_jwt",
        },
      },
    },
  };
}
