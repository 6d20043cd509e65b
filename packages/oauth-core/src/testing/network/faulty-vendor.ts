/**
 * A vendor on loopback that is a valid OpenID provider until a test replaces one of its responses.
 * It records every request, so that a test can check the outcome and what the vendor received.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { JsonObject } from "../../ports.ts";
import { Secret } from "../../protocol/secret.ts";
import { defineVendor, type Vendor, type VendorCredentials } from "../../registry/vendor.ts";
import { type IdTokenKey, newIdTokenKey, signIdToken } from "../id-tokens.ts";
import { listen } from "./listen.ts";

export interface Received {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly form: URLSearchParams;
}

/** A string is sent as it is, an object as JSON; a function writes the response itself. */
export type Answer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | object }
  | ((response: ServerResponse, request: Received) => void | Promise<void>);

export interface FaultyVendor {
  /** `http://127.0.0.1:<port>`; also the issuer. */
  readonly issuer: string;
  /** Its entry: endpoints are discovered. */
  readonly entry: Vendor;
  readonly credentials: VendorCredentials;
  readonly received: readonly Received[];
  /** Paths requested so far, in order. */
  readonly asked: () => string[];
  readonly times: (path: string) => number;
  /** The tokens that it was asked to revoke. */
  readonly revoked: () => (string | null)[];
  /** By path; replaces the default response. */
  readonly answers: Map<string, Answer>;
  /** The keys at `/jwks`; the first signs. */
  readonly keys: IdTokenKey[];
  /**
   * The token response with an ID token of these claims and header members instead of the valid
   * ones; undefined removes one.
   */
  readonly grant: (
    changes?: { claims?: Record<string, unknown>; header?: Record<string, unknown>; key?: IdTokenKey },
    members?: object,
  ) => Promise<void>;
  /** Metadata with these members replaced; undefined removes one. */
  readonly describe: (changes: Record<string, unknown>) => void;
  readonly close: () => Promise<void>;
}

/** One for all vendors of a run: making RSA keys takes longer than a test. */
const FIRST_KEY = newIdTokenKey("RS256", "key-1");

export const ACCESS_TOKEN = "access-token-of-the-vendor";
export const REFRESH_TOKEN = "refresh-token-of-the-vendor";
export const CLIENT_ID = "our-client.at_vendor";
export const CLIENT_SECRET = "our-secret-at-the-vendor";
export const SUBJECT = "user-1";
export const NONCE = "nonce-of-this-flow";

/** @param now the vendor's clock; ID tokens are issued at that time and live an hour */
export async function startFaultyVendor(now: () => number): Promise<FaultyVendor> {
  const received: Received[] = [];
  const answers = new Map<string, Answer>();
  const server = createServer((request, response) => {
    void read(request).then((one) => {
      received.push(one);
      return reply(answers.get(one.path.split("?")[0] ?? ""), response, one);
    });
  });
  const { port, close } = await listen(server);
  const issuer = `http://127.0.0.1:${port}`;
  const keys = [FIRST_KEY];

  const describe: FaultyVendor["describe"] = (changes) => {
    answers.set("/.well-known/openid-configuration", { body: { ...metadata(issuer), ...changes } });
  };
  const grant: FaultyVendor["grant"] = async (
    { claims = {}, header = {}, key = keys[0] ?? FIRST_KEY } = {},
    members = {},
  ) => {
    const sound = { iss: issuer, sub: SUBJECT, aud: CLIENT_ID, iat: now(), exp: now() + 3600, nonce: NONCE };
    const idToken = await signIdToken({ ...sound, ...claims }, key, header);
    answers.set("/token", { body: { ...soundAnswer(), id_token: idToken, ...members } });
  };
  describe({});
  answers.set("/jwks", (response) => json(response, { keys: keys.map(({ publicJwk }) => publicJwk) }));
  answers.set("/revoke", { status: 200 });
  await grant();
  return {
    issuer,
    entry: defineVendor({ id: "faulty", name: "Faulty", issuer, defaultScopes: ["openid"] }),
    credentials: { id: "1", source: "shared", clientId: CLIENT_ID, clientSecret: new Secret(CLIENT_SECRET) },
    received,
    asked: () => received.map(({ path }) => path),
    times: (asked) => received.filter(({ path }) => path === asked).length,
    revoked: () => received.filter(({ path }) => path === "/revoke").map(({ form }) => form.get("token")),
    answers,
    keys,
    grant,
    describe,
    close,
  };
}

function metadata(issuer: string): JsonObject {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    jwks_uri: `${issuer}/jwks`,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  };
}

export function soundAnswer(): {
  access_token: string;
  token_type: string;
  expires_in: number;
  refresh_token: string;
  scope: string;
} {
  return {
    access_token: ACCESS_TOKEN,
    token_type: "Bearer",
    expires_in: 3600,
    refresh_token: REFRESH_TOKEN,
    scope: "openid",
  };
}

/** What introspection says of a token that has a minute left. */
export function soundIntrospection(now: number): JsonObject {
  return { active: true, token_type: "Bearer", client_id: CLIENT_ID, sub: SUBJECT, scope: "read", exp: now + 60 };
}

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString("utf8");
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    body,
    form: new URLSearchParams(body),
  };
}

async function reply(answer: Answer | undefined, response: ServerResponse, request: Received): Promise<void> {
  if (typeof answer === "function") return answer(response, request);
  const { status = answer === undefined ? 404 : 200, headers = {}, body = "" } = answer ?? {};
  const type = typeof body === "string" ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...type, ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
