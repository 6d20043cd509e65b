/** The schemas of the API's answers. Part of openapi.ts. */

export type Schema = Record<string, unknown>;

export const text = (description: string, extra: Schema = {}): Schema => ({ type: "string", description, ...extra });
const texts = (description: string): Schema => ({ type: "array", items: { type: "string" }, description });

const REQUIRED_OF_VENDOR = [
  "id",
  "name",
  "enabled",
  "verification",
  "capabilities",
  "setup",
  "placeholders",
  "default_scopes",
];
const VENDOR: Record<string, Schema> = {
  id: text("The vendor's id"),
  name: text("The vendor's name"),
  aliases: texts("Other names that find this vendor wherever an id is taken"),
  enabled: { type: "boolean", description: "It may be used, with or without credentials of the broker's" },
  accepts_new_authorizations: { type: "boolean" },
  verification: text("Who vouches for the entry", { enum: ["first-class", "two-sources", "listed", "operator"] }),
  capabilities: { type: "object", additionalProperties: true },
  setup: text("What must be done first", { enum: ["none", "vendor_approval", "environment_id"] }),
  placeholders: { type: "object", additionalProperties: true },
  default_scopes: texts("Asked for where a request names none"),
  server_url: text("Of the vendor's MCP server, with {placeholders}"),
  approved: { type: "boolean", description: "To an authenticated client" },
};

export const SCHEMAS: Record<string, Schema> = {
  Error: {
    type: "object",
    required: ["error", "error_description"],
    properties: {
      error: text("A code of RFC 6749 or of the table in docs/api.md"),
      error_description: text("A sentence"),
      flow_id: text("Names the flow in our log"),
      reference_id: text("Names a bug of ours in our log"),
      reason: text("Which rule or deadline"),
      retry: text("restart: something was spent and its answer lost, start a new flow", { enum: ["restart"] }),
      vendor_error: text("The vendor's own code"),
      credentials_source: text("Whose credentials the vendor refused", { enum: ["shared", "byoc", "environment"] }),
      help: text("What a person can do by hand"),
    },
  },
  Tokens: {
    type: "object",
    required: ["access_token", "token_type", "vendor", "connection", "vendor_data"],
    properties: {
      access_token: text("The vendor's access token"),
      token_type: text("Bearer, or the vendor's own type"),
      expires_in: { type: "integer", minimum: 1, description: "Seconds; only when the vendor gave a usable lifetime" },
      refresh_token: text("The vendor's refresh token"),
      scope: text("Space-separated"),
      vendor_id_token: text("The vendor's ID token, after every check"),
      vendor: text("The vendor's id; custom where the request described it"),
      connection: text("Opaque, sealed, bound to this client: send it with refresh and revoke"),
      vendor_data: {
        type: "object",
        description: "Every other member of the vendor's answer",
        additionalProperties: true,
      },
    },
  },
  Check: {
    type: "object",
    required: ["active", "checked_by"],
    properties: {
      active: { type: ["boolean", "null"], description: "null: the vendor has no way to ask" },
      checked_by: text("How the vendor was asked", { enum: ["introspection", "userinfo", "account", "none"] }),
      scope: text("What the token may do, space-separated; absent where the vendor does not say"),
      missing_scope: text("Which of the scopes asked for it lacks; absent where scope is, or where nothing is missing"),
      expires_in: { type: "integer", minimum: 1, description: "Seconds; absent where the vendor does not say" },
      account: {
        type: "object",
        description: "Absent where the vendor names no account",
        required: ["issuer", "subject"],
        properties: { issuer: { type: ["string", "null"] }, subject: { type: "string" } },
      },
    },
  },
  Vendor: { type: "object", required: REQUIRED_OF_VENDOR, properties: VENDOR },
  VendorDetails: {
    type: "object",
    required: REQUIRED_OF_VENDOR,
    properties: {
      ...VENDOR,
      placeholders: {
        type: "object",
        description: "Besides, description: what it means",
        additionalProperties: true,
      },
      reasons_off: texts("Why the entry is off, or was until the operator turned it on"),
      endpoints_from: text("Of an MCP server: whether its live metadata decides its endpoints", {
        enum: ["metadata", "metadata, else stored"],
      }),
      sunsets: {
        type: "array",
        description: "What the vendor has announced to end: ends_on, what, source, and how the URLs begin that end",
        items: { type: "object", additionalProperties: true },
      },
      checked_on: text("YYYY-MM-DD: the day of the facts"),
      endpoint_checks: {
        type: "object",
        description: "For an endpoint that has a source of its own: its checked_on and source",
        additionalProperties: true,
      },
      confidence: text("In the endpoints of an entry of the catalogue", { enum: ["high", "medium", "low"] }),
      agreeing_sources: { type: "integer", description: "How many sources agree on both endpoints" },
      disagreements: texts("Sources that have other endpoints, and which"),
      superseded: texts("Other addresses in the sources, each with the reason against it"),
      recalled: texts("Facts that no source was seen for"),
      quirks: texts("How the vendor departs from the standard, according to its sources"),
      sources: texts("Where the facts are from"),
    },
  },
};
