/**
 * The broker.yaml of most tests, as an operator would write it, and the names that both sides use.
 */
import { random } from "../secrets.ts";

/** No server listens there: tests stop before the request. */
export const REDIRECT_URI = "https://platform.example/oauth/vendor-callback";
export const OTHER_REDIRECT_URI = "https://other.example/oauth/vendor-callback";
/** Where the first client sends users who come without a flow. */
export const INITIATE_LOGIN_URI = "https://platform.example/connect";
export const SCOPE = "openid profile api:read";

export type Secrets = ReturnType<typeof createSecrets>;
/** Random, as an operator makes them; `vendor` is of our client there. */
export function createSecrets() {
  return { platform: random("client secret"), other: random("other client's secret"), vendor: random("vendor secret") };
}

export interface ConfigurationParts {
  readonly baseUrl: string;
  readonly secrets: Secrets;
  /** `memory:` by default. */
  readonly store?: string;
  /** `store` by default. */
  readonly keys?: string;
  /** The OpenID provider's issuer. */
  readonly issuer: string;
  /** Further entries under `vendors:`, each line indented by two. */
  readonly vendors?: string;
  /** Further entries under `clients:`, each line indented by two. */
  readonly clients?: string;
  /** Further fields of the first client, each line indented by four. */
  readonly client?: string;
  /** `listen.idle_seconds`; default: its own. */
  readonly idleSeconds?: number;
  /** Further top-level sections. */
  readonly more?: string;
}

/** For `vendors`: an entry that names its endpoints alone. */
export function vendorEntry(
  id: string,
  at: Readonly<Record<"authorizationEndpoint" | "tokenEndpoint", string>>,
  secrets: Secrets,
): string {
  return `  ${id}:
    name: ${id}
    authorization_endpoint: ${at.authorizationEndpoint}
    token_endpoint: ${at.tokenEndpoint}
    credentials: { client_id: broker, client_secret: ${secrets.vendor} }`;
}

/**
 * Two clients, `platform` and `other`, and the vendor `op`: a real OpenID provider with discovery.
 */
export function brokerYaml(parts: ConfigurationParts): string {
  const {
    baseUrl,
    secrets,
    issuer,
    store = "memory:",
    keys = "store",
    vendors = "",
    clients = "",
    client = "",
    more = "",
    idleSeconds,
  } = parts;
  const idle = idleSeconds === undefined ? "" : `, idle_seconds: ${idleSeconds}`;
  return `base_url: ${baseUrl}
listen: { host: 127.0.0.1, port: ${new URL(baseUrl).port}${idle} }
store: "${store}"
keys: "${keys}"
egress: { allow_loopback: true }
clients:
  - client_id: platform
    name: The Platform
    client_secret: ${secrets.platform}
    redirect_uris: [${REDIRECT_URI}]
    initiate_login_uri: ${INITIATE_LOGIN_URI}
${client}
  - client_id: other
    client_secret: ${secrets.other}
    redirect_uris: [${OTHER_REDIRECT_URI}]
${clients}
vendors:
  op:
    name: OpenID Provider
    issuer: ${issuer}
    default_scopes: [openid, "api:read"]
    rotates_refresh_tokens: true
    credentials: { id: first, client_id: broker, client_secret: ${secrets.vendor} }
${vendors}
${more}
`;
}
