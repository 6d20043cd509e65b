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
  "clients_of",
  "placeholders",
  "default_scopes",
];
const VENDOR: Record<string, Schema> = {
  id: text("This is the vendor's id."),
  name: text("This is the vendor's name."),
  aliases: texts("Other names find this vendor too, wherever an id is taken."),
  enabled: { type: "boolean", description: "It may be used, with or without credentials of the broker's." },
  accepts_new_authorizations: { type: "boolean", description: "New flows may start at it." },
  verification: text("It says who vouches for the entry.", {
    enum: ["first-class", "two-sources", "listed", "operator"],
  }),
  capabilities: { type: "object", description: "It says what the vendor can do.", additionalProperties: true },
  setup: text("It says what must be done first.", { enum: ["none", "vendor_approval", "environment_id"] }),
  clients_of: text(
    "It says who issues its clients: the vendor, for all its tenants, or each tenant its own, so that the broker's credentials are used at the tenants that its operator lists.",
    { enum: ["vendor", "tenant"] },
  ),
  placeholders: {
    type: "object",
    description: "These are the placeholders of its endpoints, by name.",
    additionalProperties: true,
  },
  default_scopes: texts("These are asked for where a request names none."),
  server_url: text("This is the URL of the vendor's MCP server, with {placeholders}."),
  approved: { type: "boolean", description: "The vendor has approved the client that authenticated." },
};

export const SCHEMAS: Record<string, Schema> = {
  Error: {
    type: "object",
    required: ["error", "error_description"],
    properties: {
      error: text("This is a code of RFC 6749 or of the table in docs/api.md."),
      error_description: text("This is a sentence for whoever reads the log."),
      flow_id: text("It names the flow in the broker's log."),
      reference_id: text("It names a bug of ours in the broker's log."),
      reason: text("It says which rule or deadline it was."),
      retry: text("Something was spent and its answer lost. Start a new flow.", { enum: ["restart"] }),
      vendor_error: text("This is the vendor's own code."),
      credentials_source: text("It says whose credentials the vendor refused.", {
        enum: ["shared", "byoc", "environment"],
      }),
      help: text("It says what a person can do by hand."),
    },
  },
  Tokens: {
    type: "object",
    required: ["access_token", "token_type", "vendor", "connection", "vendor_data"],
    properties: {
      access_token: text("This is the vendor's access token."),
      token_type: text("It is Bearer, or a type with rules of its own, such as DPoP."),
      expires_in: {
        type: "integer",
        minimum: 1,
        description:
          "The access token ends after this many seconds. It is there only where the vendor gave a usable lifetime.",
      },
      refresh_token: text("This is the vendor's refresh token, or a sealed one."),
      scope: text("Scopes are separated by spaces."),
      vendor_id_token: text("This is the vendor's ID token. It has passed every check."),
      vendor: text("This is the vendor's id. It is custom where the request described the vendor."),
      connection: text("It is opaque, sealed, and bound to this client. Send it with refresh, revoke and check."),
      vendor_data: {
        type: "object",
        description: "It has every other member of the vendor's answer, and the declared parameters of its callback.",
        additionalProperties: true,
      },
    },
  },
  Check: {
    type: "object",
    required: ["active", "checked_by"],
    properties: {
      active: { type: ["boolean", "null"], description: "It is null where the vendor has no way to ask." },
      checked_by: text("It says how the vendor was asked.", { enum: ["introspection", "userinfo", "account", "none"] }),
      scope: text("It says what the token may do, separated by spaces. It is absent where the vendor does not say."),
      missing_scope: text(
        "It says which of the needed scopes the token lacks. It is absent where scope is, or where nothing is missing.",
      ),
      expires_in: {
        type: "integer",
        minimum: 1,
        description: "The token ends after this many seconds. It is absent where the vendor does not say.",
      },
      account: {
        type: "object",
        description: "It is absent where the vendor names no account.",
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
        description: "Each also has a description of what it means.",
        additionalProperties: true,
      },
      reasons_off: texts("They say why the entry is off, or was until the operator turned it on."),
      endpoints_from: text("For an MCP server it says whether its live metadata decides its endpoints.", {
        enum: ["metadata", "metadata, else stored"],
      }),
      sunsets: {
        type: "array",
        description:
          "These are what the vendor has announced to end, with ends_on, what, source, and how the URLs begin that end.",
        items: { type: "object", additionalProperties: true },
      },
      checked_on: text("This is the day of the facts, as YYYY-MM-DD."),
      endpoint_checks: {
        type: "object",
        description: "An endpoint that has a source of its own has its checked_on and source here.",
        additionalProperties: true,
      },
      fact_checks: {
        type: "object",
        description: "Any other fact that has a source of its own has its checked_on and source here.",
        additionalProperties: true,
      },
      confidence: text("It says how sure the endpoints of an entry of the catalogue are.", {
        enum: ["high", "medium", "low"],
      }),
      agreeing_sources: { type: "integer", description: "So many sources agree on both endpoints." },
      disagreements: texts("These sources have other endpoints."),
      superseded: texts("These are other addresses in the sources, each with the reason against it."),
      recalled: texts("For these facts no source was seen."),
      quirks: texts("They say how the vendor departs from the standard, according to its sources."),
      sources: texts("These are where the facts are from."),
    },
  },
};
