/**
 * OpenAPI 3.1 of the broker, for tools and for readers of schemas. A test compares it with the
 * route table, and `npm run check` lints it. Written by hand, because generators get OAuth's form
 * bodies and redirects wrong.
 */
import {
  AUTHENTICATION,
  CALLBACK,
  callback,
  COMPONENTS,
  CONNECTION,
  errors,
  form,
  inPath,
  json,
  OBJECT,
  OPEN,
  page,
  pages,
  PUSHED,
  query,
  ref,
  TO_VENDOR,
  WHAT_MINTED,
} from "./openapi-parts.ts";
import { type Members, type Schema, shape, text } from "./openapi-schemas.ts";

const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const REQUEST_URI = "urn:ietf:params:oauth:request_uri:q5Yz0mJ2Wb8sVtKfN1xR4A";

interface Api {
  readonly fields: Members;
  readonly required?: readonly string[];
  /** Whole bodies, by name. */
  readonly examples: Record<string, Record<string, string>>;
  /** The answer of the status. */
  readonly ok: Schema;
  /** Default 200. */
  readonly status?: number;
}

export function openApiDocument(issuer: string): Record<string, unknown> {
  /** A form that a client sends. */
  const api = (operationId: string, summary: string, { fields, required = [], examples, ok, status = 200 }: Api) => ({
    post: {
      operationId,
      summary,
      // In the header, or in the form (the second entry).
      security: [{ clientBasic: [] }, {}],
      requestBody: form({ ...fields, ...AUTHENTICATION }, required, examples),
      responses: { [status]: ok, ...errors(400, 401, 413, 415, 429, 500, 502, 503) },
    },
  });
  const open = (operationId: string, summary: string, ok: Schema, { status = 200, refused = errors() } = {}) => ({
    get: { operationId, summary, ...OPEN, responses: { [status]: ok, ...refused } },
  });
  /** To which credentials add something. */
  const vendors = (operationId: string, summary: string, ok: Schema, ...more: number[]): Schema => ({
    ...open(operationId, summary, ok, { refused: errors(400, 401, 500, 503, ...more) }).get,
    security: [{}, { clientBasic: [] }],
  });
  return {
    openapi: "3.1.0",
    info: {
      title: "OAuth broker",
      version: "1",
      license: { name: "MIT", identifier: "MIT" },
      description:
        "The broker has one redirect URI for every vendor, and returns the vendor's own tokens. docs/api.md explains the errors, docs/versioning.md what may change.",
    },
    servers: [{ url: issuer }],
    paths: {
      "/.well-known/oauth-authorization-server": open(
        "getMetadata",
        "The metadata of RFC 8414",
        json("The broker's endpoints and what they take.", OBJECT, {
          issuer,
          authorization_endpoint: `${issuer}/v1/authorize`,
          pushed_authorization_request_endpoint: `${issuer}/v1/par`,
          token_endpoint: `${issuer}/v1/token`,
        }),
      ),
      "/v1/par": api("pushRequest", "Start a flow (RFC 9126)", {
        fields: PUSHED,
        required: ["client_id", "response_type", "redirect_uri", "code_challenge", "code_challenge_method"],
        examples: {
          flow: {
            client_id: "platform",
            response_type: "code",
            vendor: "my-vendor",
            redirect_uri: CALLBACK,
            code_challenge: CHALLENGE,
            code_challenge_method: "S256",
            scope: "read write",
            state: "of-the-users-session",
          },
        },
        status: 201,
        ok: json(
          "The user's browser is sent to /v1/authorize with this request_uri.",
          shape(["request_uri", "expires_in"], {
            request_uri: "The request URI, which works once.",
            expires_in: { type: "integer", description: "Seconds until the request URI ends." },
          }),
          { request_uri: REQUEST_URI, expires_in: 300 },
        ),
      }),
      "/v1/authorize": {
        get: {
          operationId: "authorize",
          summary: "The user's browser leaves for the vendor",
          ...OPEN,
          parameters: [
            query("client_id", "The client that pushed the request."),
            query("request_uri", "What /v1/par returned."),
          ],
          responses: {
            "200": page(
              "If clients of several owners share the vendor's credentials, a page names client and owner first.",
            ),
            "303": TO_VENDOR,
            ...pages(400, 403, 500, 503),
          },
        },
        post: {
          operationId: "decideOwner",
          summary: "What the user decided on that page",
          ...OPEN,
          requestBody: form(
            {
              client_id: "The same as in the query.",
              request_uri: "The same as in the query. It is spent here.",
              decision: text("The button that was pressed.", { enum: ["approve", "deny"] }),
              csrf: "The token of the page that this browser was shown.",
            },
            ["client_id", "request_uri", "decision", "csrf"],
            { approve: { client_id: "platform", request_uri: REQUEST_URI, decision: "approve", csrf: "…" } },
          ),
          responses: { "303": TO_VENDOR, ...pages(400, 403, 413, 415, 500, 503) },
        },
      },
      "/v1/callback": callback("callback", "The vendor sends the browser back"),
      "/v1/custom/{context}/callback": {
        parameters: [inPath("context", "The context that /v1/explain shows for this client and vendor.")],
        ...callback("customCallback", "The same for a vendor that the request names"),
      },
      "/v1/token": api("redeemOrRefresh", "Redeem the broker's code, or refresh", {
        fields: {
          grant_type: text("The grant.", { enum: ["authorization_code", "refresh_token"] }),
          code: "The broker's code.",
          redirect_uri: "The redirect URI that was pushed.",
          code_verifier: text("The verifier of PKCE #1.", { minLength: 43, maxLength: 128 }),
          refresh_token: "The refresh token. A sealed one needs neither connection nor vendor beside it.",
          scope: "A refresh may ask for a narrower scope.",
          ...WHAT_MINTED,
        },
        required: ["grant_type"],
        examples: {
          code: { grant_type: "authorization_code", code: "…", redirect_uri: CALLBACK, code_verifier: VERIFIER },
          refresh: { grant_type: "refresh_token", refresh_token: "…", connection: "…" },
        },
        ok: {
          description:
            "The vendor's tokens. A client with token_encrypted_response_alg gets the same as a compact JWE.",
          content: {
            "application/json": {
              schema: ref("Tokens"),
              example: {
                access_token: "…",
                token_type: "Bearer",
                scope: "read write",
                vendor: "my-vendor",
                connection: "…",
                vendor_data: {},
              },
            },
            "application/jwt": { schema: text("A compact JWE. Its plaintext is Tokens as JSON.") },
          },
        },
      }),
      "/v1/revoke": api("revoke", "Revoke at the vendor (RFC 7009)", {
        fields: {
          token: "The token to revoke.",
          token_type_hint: "Either access_token or refresh_token.",
          ...WHAT_MINTED,
        },
        required: ["token"],
        examples: { refreshToken: { token: "…", token_type_hint: "refresh_token", connection: "…" } },
        ok: json(
          "The vendor has revoked.",
          shape(["revoked"], { revoked: text("What ended.", { enum: ["token", "grant", "already"] }) }),
          { revoked: "grant" },
        ),
      }),
      "/v1/check": api("check", "Is this connection still good?", {
        fields: {
          access_token: "The token. It is sent only to hosts that the connection pins.",
          connection: CONNECTION,
          refresh_token: "A sealed refresh token may be sent instead of connection.",
          scope: "The scopes that the caller needs, separated by spaces.",
          vendor_client_id: "The client id that the connection names (BYOC).",
          vendor_client_secret: "The secret of vendor_client_id, which is never kept (BYOC).",
        },
        required: ["access_token"],
        examples: { connection: { access_token: "…", connection: "…", scope: "read" } },
        ok: json("What the vendor said of the token. Nothing is kept.", ref("Check"), {
          active: true,
          checked_by: "introspection",
          scope: "read write",
          account: { issuer: null, subject: "583231" },
        }),
      }),
      "/v1/explain": api("explain", "What a pushed request would do", {
        fields: { ...PUSHED, ...WHAT_MINTED },
        examples: { flow: { client_id: "platform", vendor: "my-vendor" } },
        ok: json(
          "The tier, the endpoints, the redirect URI to register, and each value with its source. Nothing is stored.",
          OBJECT,
          { vendor: "my-vendor", tier: 1, redirect_uri: `${issuer}/v1/callback` },
        ),
      }),
      "/v1/vendors": {
        parameters: [
          query("q", "A part of an id, a name or an alias. The best matches come first.", { maxLength: 64 }, "my"),
        ],
        get: vendors(
          "listVendors",
          "All vendors, or those that a search finds",
          json(
            "The vendors. A client that authenticates also sees which have approved it.",
            shape(["vendors"], {
              vendors: { type: "array", items: ref("Vendor") },
              did_you_mean: "The nearest name, if a search finds none.",
            }),
            { vendors: [], did_you_mean: "my-vendor" },
          ),
        ),
      },
      "/v1/vendors/{id}": {
        parameters: [inPath("id", "A vendor's id, or one of its other names.", "my-vendor")],
        get: vendors(
          "getVendor",
          "One vendor",
          json("The vendor, with the sources of its entry.", ref("VendorDetails")),
          404,
        ),
      },
      "/register": {
        post: {
          operationId: "registerAtVendor",
          summary: "Register a client at a vendor (RFC 7591)",
          security: [{ clientBasic: [] }, { clientAssertion: [] }],
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: shape(["vendor"], {
                  vendor: "A vendor's id of /v1/vendors.",
                  initial_access_token:
                    "Some vendors require an initial access token. Without one the broker sends the owner's of the configuration, else the vendor's.",
                }),
                example: { vendor: "my-vendor" },
              },
            },
          },
          responses: {
            "201": json(
              "The vendor's own answer, byte for byte. Nothing of it is kept.",
              {},
              { client_id: "…", redirect_uris: [`${issuer}/v1/callback`] },
            ),
            default: {
              description:
                "The vendor's own answer, with its status and Content-Type, or our refusal, which has the members of Error.",
              content: { "*/*": {} },
            },
            ...errors(),
          },
        },
      },
      "/healthz": open("getLiveness", "Liveness", json("The process runs.", OBJECT, { status: "ok" })),
      "/readyz": open(
        "getReadiness",
        "Readiness",
        json("Store, keys and audit stream work.", OBJECT, { status: "ready" }),
        { refused: errors(503) },
      ),
      "/metrics": open("getMetrics", "Prometheus text", {
        description: "The metrics of this process.",
        content: { "text/plain": { schema: { type: "string" } } },
      }),
      "/openapi.json": open("getOpenApi", "This document", json("The document in OpenAPI 3.1.", OBJECT)),
      "/favicon.ico": open("getIcon", "No icon", { description: "The broker has no icon." }, { status: 204 }),
      "/": open("getHomePage", "A page for people", page("A page that says what the broker is and lists the vendors.")),
    },
    components: COMPONENTS,
  };
}
