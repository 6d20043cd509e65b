/** The schemas of the API's answers. Part of openapi.ts. */

export type Schema = Record<string, unknown>;
/** Each by its name: its schema, or what it means if it is a plain text. */
export type Members = Readonly<Record<string, string | Schema>>;

export const text = (description: string, extra: Schema = {}): Schema => ({ type: "string", description, ...extra });
const texts = (description: string): Schema => ({ type: "array", items: { type: "string" }, description });

const flag = (description: string): Schema => ({ type: "boolean", description });
const seconds = (description: string): Schema => ({ type: "integer", minimum: 1, description });
const object = (description: string): Schema => ({ type: "object", description, additionalProperties: true });
/** An object with these members. */
export const shape = (required: readonly string[], members: Members): Schema => ({
  type: "object",
  required,
  properties: Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, typeof member === "string" ? text(member) : member]),
  ),
});

const VENDOR: Members = {
  id: "The vendor's id.",
  name: "The vendor's name.",
  aliases: texts("Other names of the vendor, accepted wherever an id is."),
  generation_of: object(
    "The entry is for the vendor's apps of another generation than the entry of this id: for these apps.",
  ),
  enabled: flag("Whether the vendor may be used, with or without the broker's credentials."),
  accepts_new_authorizations: flag("Whether new flows may start at the vendor."),
  verification: text("Who vouches for the entry.", {
    enum: ["first-class", "two-sources", "listed", "operator"],
  }),
  capabilities: object("What the vendor can do."),
  setup: text("What must be done first.", { enum: ["none", "vendor_approval", "environment_id"] }),
  clients_of: text(
    "Who issues its clients: the vendor, for all its tenants, or each tenant its own, so that the broker's credentials are used at the tenants that its operator lists.",
    { enum: ["vendor", "tenant"] },
  ),
  placeholders: object("The placeholders of its endpoints, by name."),
  default_scopes: texts("The scopes requested if a request names none."),
  server_url: "The vendor's MCP server as a URL, with {placeholders}.",
  approved: flag("Whether the vendor has approved the client that authenticated."),
};
const MAY_BE_ABSENT = new Set(["aliases", "generation_of", "accepts_new_authorizations", "server_url", "approved"]);
const REQUIRED_OF_VENDOR = Object.keys(VENDOR).filter((name) => !MAY_BE_ABSENT.has(name));

export const SCHEMAS: Record<string, Schema> = {
  Error: shape(["error", "error_description"], {
    error: "A code of RFC 6749 or of the table in docs/api.md.",
    error_description: "A sentence for the reader of the log.",
    flow_id: "The name of the flow in the broker's log.",
    reference_id: "The name of a bug of the broker in the broker's log.",
    reason: "The rule or deadline that refused the request.",
    retry: text("Always restart: something was spent and its response lost, so start a new flow.", {
      enum: ["restart"],
    }),
    vendor_error: "The vendor's own code.",
    credentials_source: text("Whose credentials the vendor refused.", {
      enum: ["shared", "byoc", "environment"],
    }),
    help: "What the user can do by hand.",
  }),
  Tokens: shape(["access_token", "token_type", "vendor", "connection", "vendor_data"], {
    access_token: "The vendor's access token.",
    token_type: "Bearer, or another type, such as DPoP.",
    expires_in: seconds("Seconds until the access token ends. Present only if the vendor gave a usable lifetime."),
    refresh_token: "The vendor's refresh token, or a sealed one.",
    refresh_token_expires_in: seconds(
      "Seconds until this refresh token ends. Present only if the vendor gave a usable lifetime.",
    ),
    scope: "Scopes are separated by spaces.",
    vendor_id_token: "The vendor's ID token, after every check has passed.",
    vendor: "The vendor's id, or custom if the request described the vendor.",
    connection: "An opaque, sealed value, bound to this client. Send it with refresh, revoke and check.",
    vendor_data: object("Every other member of the vendor's response, and the declared parameters of its callback."),
  }),
  Check: shape(["active", "checked_by"], {
    active: {
      type: ["boolean", "null"],
      description: "Whether the vendor accepts the token. Null if the vendor has no way to ask.",
    },
    checked_by: text("How the vendor was asked.", { enum: ["introspection", "userinfo", "account", "none"] }),
    scope: "The scopes of the token, separated by spaces. Absent if the vendor does not say.",
    missing_scope: "The needed scopes that the token lacks. Absent if scope is, or if nothing is missing.",
    expires_in: seconds("Seconds until the token ends. Absent if the vendor does not say."),
    account: {
      description: "The account at the vendor. Absent if the vendor names no account.",
      ...shape(["issuer", "subject"], { issuer: { type: ["string", "null"] }, subject: { type: "string" } }),
    },
  }),
  Vendor: shape(REQUIRED_OF_VENDOR, VENDOR),
  VendorDetails: shape(REQUIRED_OF_VENDOR, {
    ...VENDOR,
    placeholders: object("Each also has a description of what it means."),
    reasons_off: texts("Why the entry is off, or was until the operator turned it on."),
    sunsets: {
      type: "array",
      description: "What the vendor has announced to end, with ends_on, what, source, and how the URLs begin that end.",
      items: { type: "object", additionalProperties: true },
    },
    checked_on: "The day of the facts, as YYYY-MM-DD.",
    endpoint_checks: object("The checked_on and source of each endpoint that has a separate source."),
    fact_checks: object("The checked_on and source of any other fact that has a separate source."),
    confidence: text("It says how sure the endpoints of an entry of the catalogue are.", {
      enum: ["high", "medium", "low"],
    }),
    agreeing_sources: { type: "integer", description: "The number of sources that agree on both endpoints." },
    disagreements: texts("The sources that have other endpoints."),
    superseded: texts("Other addresses in the sources, each with the reason against it."),
    recalled: texts("The facts without a source."),
    quirks: texts("How the vendor departs from the standard, according to its sources."),
    sources: texts("The sources of the facts."),
  }),
};
