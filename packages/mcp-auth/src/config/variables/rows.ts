/**
 * Every environment variable of a server: meaning, format, default, and its modes. One table
 * for the readers, the messages that refuse a value, the warnings about unused variables,
 * docs/configuration.md and service.schema.json. A default that is a value stands here alone.
 */
import { CONNECTIONS, IDLE_SECONDS, TRACING_VARIABLES } from "@oauth-broker/service/configuration";
import { EVENT_VARIABLES } from "@oauth-broker/service/events";
import { VENDOR_FIELD_VARIABLES } from "./vendor-fields.ts";

/** Where a variable applies. Absent: everywhere. */
export type Use = "pre-registered" | "hosted" | "platform callback" | "server callback" | "VENDORS";

/** One environment variable, as docs/configuration.md shows it. */
export interface Variable {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly example: string;
  /** The value, or words if it depends on others. Absent: no default. */
  readonly default?: string | number;
  readonly use?: Use;
  /** The only values, if the type has a list of them. */
  readonly choices?: readonly string[];
  /** For a whole number: the lowest and the highest. */
  readonly range?: { readonly least: number; readonly most: number };
}

function oneOf<const Values extends readonly string[]>(...choices: Values) {
  return { type: choices.join(" or "), choices };
}

function wholeNumber(least: number, most: number, noun = "whole number") {
  return { type: `${noun}, ${least} to ${most}`, range: { least, most } };
}

const FLAG = { ...oneOf("true", "false"), example: "true", default: "false" };

function byName<Named extends { readonly name: string }>(rows: readonly Named[]) {
  return Object.fromEntries(rows.map((row) => [row.name, row])) as Readonly<Record<Named["name"], Named>>;
}

const HOSTS_TYPE = "hosts, with their port if it is not 443, separated by commas";
const MOST_PER_MINUTE = 1_000_000;
const LINK_TYPE = "https URL of at most 2048 characters";
const CIDRS_TYPE = "networks in CIDR notation, separated by commas";

export const ROWS = {
  OAUTH_MODE: {
    ...oneOf("pre-registered", "hosted"),
    description:
      "Who runs the vendor's OAuth flow: the platform, which sends each user's vendor token, or this server, which stores them.",
    example: "hosted",
  },
  DEPLOYMENT_URL: {
    type: "https origin without path and trailing slash (http on loopback only)",
    description:
      "The public URL of this server: the issuer, byte for byte, and the base of every URL in its metadata. Hosted mode needs it.",
    example: "https://my-server.example.com",
  },
  PLATFORM_OAUTH_CALLBACK_URL: {
    type: "absolute https URL (http on loopback only) in canonical form, without fragment",
    description:
      "The platform's callback, registered with the vendor in both modes; with the platform's callback it is our one client's redirect URI.",
    example: "https://platform.example.com/oauth/callback",
  },
  OAUTH_CALLBACK: {
    ...oneOf("platform", "server"),
    description: "Where the vendor redirects the user to: the platform, or `DEPLOYMENT_URL/callback`.",
    example: "server",
    default: "platform where PLATFORM_OAUTH_CALLBACK_URL is set, else server",
    use: "hosted",
  },
  VENDOR: {
    type: "id of a registry vendor, or one of your own: lower case letters, digits and -",
    description:
      "The vendor. One of your own comes with `VENDOR_ISSUER`, or with `VENDOR_AUTHORIZATION_URL` and `VENDOR_TOKEN_URL`.",
    example: "my-vendor",
  },
  VENDORS: {
    type: "vendor ids as in `VENDOR`, separated by commas",
    description:
      "Several vendors behind one sign-in, instead of `VENDOR`; the callback is then the server's own. Every `VENDOR_X` is `VENDOR_<ID>_X` (the id in upper case, `-` as `_`): `VENDOR_MY_CHAT_CLIENT_ID`. The sign-in vendor's redirect URI is `DEPLOYMENT_URL/callback`, that of the others `DEPLOYMENT_URL/vendors/<id>/callback`.",
    example: "my-vendor,my-chat",
    use: "hosted",
  },
  SIGN_IN: {
    type: "one of `VENDORS`",
    description: "The vendor at which users sign in; it must identify its users. The others are linked when needed.",
    example: "my-vendor",
    default: "the first of VENDORS",
    use: "VENDORS",
  },
  ADOPT_SIGN_IN: {
    ...FLAG,
    description:
      "Starts although the table holds sessions of another sign-in vendor. They and the sign-ins of the pages end for good, also where users sign in at that vendor again later. Links made under it do not count in the meantime.",
    use: "VENDORS",
  },
  ELICITATION_WAIT_SECONDS: {
    ...wholeNumber(0, 300),
    description: "How long a repeated tool call waits for a user who is linking a vendor in the browser.",
    example: "10",
    default: 25,
    use: "VENDORS",
  },
  SESSION_MAX_DAYS: {
    ...wholeNumber(1, 365),
    description: "A session ends this long after its sign-in, also if it is refreshed.",
    example: "7",
    default: 30,
    use: "VENDORS",
  },
  END_LINKS_WITH_LAST_SESSION: {
    ...FLAG,
    description: "Whether the end of a user's last session at `/revoke` ends the user's links too.",
    use: "VENDORS",
  },
  ...byName(VENDOR_FIELD_VARIABLES),
  VENDOR_PKCE: {
    ...oneOf("S256", "none"),
    description: "The vendor's support for PKCE.",
    example: "S256",
    default: "as the registry says; S256 for a vendor of your own",
  },
  VENDOR_PLACEHOLDERS: {
    type: "JSON object of strings",
    description: "Values for the {placeholders} in the vendor's URLs.",
    example: '{"tenant":"organizations"}',
  },
  VENDOR_CLIENT_ID: {
    type: "text of at most 2048 characters",
    description:
      "The client id of this deployment at the vendor. Hosted mode needs it. After it was changed, a user of a link made before signs in again once its access token has run out. In pre-registered mode only tokens that the vendor reports as issued to this client are accepted; with a vendor that does not report it the server does not start, or, where only metadata shows it, warns, and every call fails.",
    example: "my-server-at-the-vendor",
  },
  VENDOR_CLIENT_SECRET: {
    type: "secret of at most 2048 characters",
    description: "Its secret. Without one it is a public client.",
    example: "a value from your secret store",
  },
  VENDOR_SCOPES: {
    type: "scopes separated by spaces",
    description:
      "The scopes requested when a client names none, and the most a client may request: `scopes_supported`. A client's `offline_access` is ignored if it is not among them; if it is, the vendor is always asked for it. Commas are refused, unless the vendor itself writes them.",
    example: "openid profile",
    default: "the registry vendor's default scopes",
  },
  ALLOW_VENDOR_WITHOUT_PKCE: {
    ...FLAG,
    description:
      "Takes a vendor with neither PKCE nor ID tokens, although a stolen code of that vendor can then be used by the thief.",
    use: "hosted",
  },
  DB_TABLE_NAME: {
    type: "name of a DynamoDB table",
    description: "Where hosted mode keeps tokens and sessions. Without it, an SQLite file in `DATA_DIR`.",
    example: "my-server-tokens",
  },
  DB_TABLE_REGION: {
    type: "AWS region",
    description: "The table's region.",
    example: "eu-west-1",
  },
  TOKEN_ENCRYPTION_KMS_KEY_ID: {
    type: "ARN of a KMS key",
    description: "Seals every token field. The task role needs GenerateDataKey and Decrypt, nothing else.",
    example: "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555",
  },
  TOKEN_ENCRYPTION_MODE: {
    ...oneOf("bridge", "encrypted"),
    description: "Whether a plaintext copy is kept for older readers; docs/token-encryption.md.",
    example: "encrypted",
    default: "bridge on a table, encrypted on a file",
  },
  ADOPT_UNSEALED_SERVER_KEY: {
    ...FLAG,
    description:
      "For the first start with a key after starts without one: the unsealed server key in the table is refused, and with `true` replaced by a new, sealed one. All sessions end once, registered clients register again. While it is set, every start warns; a sealed key is never replaced.",
    use: "hosted",
  },
  DATA_DIR: {
    type: "path of a folder",
    description:
      "The folder for files: without a table the SQLite file and its key; with one, vendor responses that wait for the table.",
    example: "/var/lib/my-server",
    default: "./data",
  },
  OAUTH_CLIENTS: {
    type: "JSON array of {client_id, client_name, redirect_uris}",
    description: "MCP clients listed in advance. They are public: PKCE, no secret.",
    example: '[{"client_id":"desktop","client_name":"Desktop","redirect_uris":["http://127.0.0.1/callback"]}]',
    default: "[]",
    use: "server callback",
  },
  OAUTH_DYNAMIC_REGISTRATION: {
    ...oneOf("off", "open"),
    description:
      "Whether unknown clients may register at `/register` (RFC 7591). With `off` clients that registered before are no longer accepted.",
    example: "open",
    default: "off",
    use: "server callback",
  },
  OAUTH_DYNAMIC_REGISTRATION_HOSTS: {
    type: HOSTS_TYPE,
    description:
      "Limits the redirect URIs of clients that register, or did before, to these hosts and to loopback, where native programs listen.",
    example: "platform.example.com",
    default: "any",
    use: "server callback",
  },
  OAUTH_CLIENT_METADATA_HOSTS: {
    type: `${HOSTS_TYPE}; \`*\` is any public host on port 443`,
    description:
      "Hosts whose Client ID Metadata Documents are accepted. They are fetched from there over https, at public addresses and on port 443 alone (loopback: `EGRESS_ALLOW_LOOPBACK`). With `*` at most 10 of a host and 30 for an address are fetched in a minute, and a failure is remembered for one; hosts listed beside it are not counted.",
    example: "client.example.com",
    default: "none",
    use: "server callback",
  },
  OAUTH_REGISTER: {
    ...oneOf("on", "off"),
    description:
      "`off` leaves `/register` out; an administrator then enters the client id `platform` on the connector.",
    example: "off",
    default: "on",
    use: "platform callback",
  },
  EGRESS_ALLOW_LOOPBACK: {
    ...FLAG,
    description: "Permits http and any port on loopback for the vendor's endpoints. For tests and sandboxes.",
  },
  EGRESS_ALLOW_CIDRS: {
    type: CIDRS_TYPE,
    description: "Private networks that the vendor's endpoints may be in, on any port.",
    example: "10.20.0.0/16",
    default: "none",
  },
  EGRESS_PROXY: {
    type: "http or https URL of host and port, with user name and password if it asks for them",
    description:
      "A forward proxy for every call to a vendor, by CONNECT and for names alone. Loopback, addresses in `EGRESS_ALLOW_CIDRS`, private names (`.internal`, names without a dot) and Client ID Metadata Documents are reached without it; any other name is asked of it, wherever it leads. Proxy variables of other programs are not read.",
    example: "http://proxy.internal:3128",
    default: "none",
  },
  ALLOWED_ORIGINS: {
    type: "origins, separated by commas, or *",
    description:
      "Clients that are web pages: the origins whose pages may call `/mcp`, `/token`, `/register` and `/revoke` and read the answers (CORS, without credentials). `*` is every origin but `null`.",
    example: "https://app.example.com",
    default: "none",
  },
  SERVER_NAME: {
    type: "text of at most 80 characters, without control characters and those that turn its direction",
    description: "Who runs this server, as its pages show it.",
    example: "Acme Corp",
    default: "the server's title, else its name",
  },
  SERVER_WEBSITE: {
    type: LINK_TYPE,
    description: "The operator's website, linked from the pages.",
    example: "https://www.example.com",
  },
  SERVER_PRIVACY: {
    type: LINK_TYPE,
    description: "The operator's privacy notice, linked from the pages.",
    example: "https://www.example.com/privacy",
  },
  SERVER_TERMS: {
    type: LINK_TYPE,
    description: "The operator's terms of use, linked from the pages.",
    example: "https://www.example.com/terms",
  },
  SERVER_ICON: {
    type: "path of a PNG, ICO or WebP file of at most 64 KiB",
    description:
      "The icon beside the name and at `/favicon.ico`. What it is, its first bytes say; SVG is refused. Read once at start.",
    example: "./icon.png",
    default: "none",
  },
  SERVER_LANGUAGE: {
    ...oneOf("en", "de"),
    description: "The language of the pages: English or German.",
    example: "de",
    default: "en",
  },
  EVENTS_URL: { ...EVENT_VARIABLES[0], use: "hosted" },
  EVENTS_SECRET: { ...EVENT_VARIABLES[1], use: "hosted" },
  HOST: {
    type: "address or host name without port",
    description: "The address to listen on.",
    example: "0.0.0.0",
    default: "127.0.0.1",
  },
  PORT: {
    ...wholeNumber(0, 65_535, "port"),
    description: "The port to listen on; 0 takes a free one.",
    example: "8788",
    default: 8788,
  },
  METRICS_PORT: {
    ...wholeNumber(0, 65_535, "port"),
    description: "A port on loopback that serves `/metrics`; 0 takes a free one.",
    example: "9464",
    default: "none: no metrics",
  },
  MAX_CONNECTIONS: {
    ...wholeNumber(1, CONNECTIONS.most),
    description:
      "Connections at a time; more are closed at once, and those of one address beyond a quarter of them. A stream that a client keeps open is one.",
    example: "2000",
    default: CONNECTIONS.usual,
  },
  IDLE_SECONDS: {
    ...wholeNumber(1, IDLE_SECONDS.most),
    description:
      "How long a connection may be idle between two requests. Behind a load balancer: longer than the balancer keeps idle connections.",
    example: "65",
    default: IDLE_SECONDS.usual,
  },
  LIMITS_REQUESTS_PER_MINUTE: {
    ...wholeNumber(0, MOST_PER_MINUTE),
    description:
      "Requests at `/authorize` and `/callback`, with `VENDORS` also at the pages of links and the vendors' callbacks, and refused ones at `/token` and `/revoke`, per address and minute in a process; 0 = no limit.",
    example: "120",
    default: 600,
    use: "hosted",
  },
  LIMITS_REGISTRATIONS_PER_MINUTE: {
    ...wholeNumber(0, MOST_PER_MINUTE),
    description: "Clients that register, per address and minute in a process; 0 = no limit.",
    example: "30",
    default: 10,
    use: "server callback",
  },
  LIMITS_REFUSED_TOKENS_PER_MINUTE: {
    ...wholeNumber(0, MOST_PER_MINUTE),
    description:
      "Bearer tokens that `/mcp` refuses, each counted once, per address and minute in a process; 0 = no limit. Beyond it, tokens that were good before still pass.",
    example: "60",
    default: 120,
  },
  TRUSTED_PROXIES: {
    type: CIDRS_TYPE,
    description:
      "Proxies whose `X-Forwarded-For` is trusted for a caller's address. Behind a proxy that is not named here all callers share one address, its limits, and a quarter of the connections.",
    example: "10.0.0.0/8",
    default: "none",
  },
  ...byName(TRACING_VARIABLES),
} as const satisfies Readonly<Record<string, Omit<Variable, "name">>>;
