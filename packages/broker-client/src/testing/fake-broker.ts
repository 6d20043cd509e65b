/**
 * A broker with scripted responses, including those a real one sends only when it fails. Records
 * its requests.
 */
import type { Fetch } from "@oauth-broker/oauth-core";

export const ISSUER = "https://broker.example";
export const REDIRECT_URI = "https://platform.example/oauth/callback";
/** The platform of these tests, as registered at the broker. */
export const PLATFORM = {
  issuer: ISSUER,
  clientId: "platform",
  clientSecret: "client-secret",
  redirectUri: REDIRECT_URI,
} as const;

export interface Asked {
  readonly path: string;
  readonly headers: Headers;
  readonly body: URLSearchParams;
  readonly text: string;
}

export interface FakeBroker {
  readonly fetch: Fetch;
  readonly asked: Asked[];
  /** By path: the response; a function may throw as a network does. */
  readonly answers: Map<string, () => Response | Promise<Response>>;
  /** Replaces members of the metadata; undefined leaves one out. */
  readonly metadata: Record<string, unknown>;
}

export const TOKEN_ANSWER = {
  access_token: "vendor-access-token",
  token_type: "Bearer",
  expires_in: 3600,
  refresh_token: "vendor-refresh-token",
  refresh_token_expires_in: 7200,
  scope: "api:read",
  vendor: "github",
  connection: "sealed-connection",
  vendor_data: { instance_url: "https://one.example" },
};

export const CHECK_ANSWER = {
  active: true,
  scope: "api:read",
  missing_scope: "api:write",
  expires_in: 60,
  account: { issuer: "https://vendor.example", subject: "42" },
  checked_by: "introspection",
};

export function createFakeBroker(): FakeBroker {
  const asked: Asked[] = [];
  const metadata: Record<string, unknown> = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/v1/authorize`,
    pushed_authorization_request_endpoint: `${ISSUER}/v1/par`,
    token_endpoint: `${ISSUER}/v1/token`,
    revocation_endpoint: `${ISSUER}/v1/revoke`,
    require_pushed_authorization_requests: true,
    authorization_response_iss_parameter_supported: true,
    code_challenge_methods_supported: ["S256"],
    response_types_supported: ["code"],
  };
  const answers: FakeBroker["answers"] = new Map([
    ["/.well-known/oauth-authorization-server", () => Response.json(metadata)],
    [
      "/v1/par",
      () => Response.json({ request_uri: "urn:ietf:params:oauth:request_uri:one", expires_in: 300 }, { status: 201 }),
    ],
    ["/v1/token", () => Response.json(TOKEN_ANSWER)],
    ["/v1/revoke", () => Response.json({ revoked: "token" })],
    ["/v1/check", () => Response.json(CHECK_ANSWER)],
  ]);
  const fetch: Fetch = async (input, init) => {
    const path = new URL(input).pathname;
    const text = await new Response(init?.body ?? null).text();
    asked.push({ path, headers: new Headers(init?.headers), body: new URLSearchParams(text), text });
    return (await answers.get(path)?.()) ?? new Response(null, { status: 404 });
  };
  return { fetch, asked, answers, metadata };
}

/** The URL the broker redirects the browser to. */
export function callbackOf(state: string, more: Readonly<Record<string, string>> = { code: "one-time-code" }): URL {
  const url = new URL(REDIRECT_URI);
  url.search = new URLSearchParams({ state, iss: ISSUER, flow_id: "flow", ...more }).toString();
  return url;
}

/** An error of the broker. */
export function refusal(status: number, members: object, headers: Record<string, string> = {}): () => Response {
  return () => Response.json({ error_description: "In a sentence", ...members }, { status, headers });
}

/** Fails as `fetch` does when no server listens. */
export function networkFailure(): never {
  throw new TypeError("fetch failed", { cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }) });
}
