/**
 * A vendor inside the test, honest and strict: codes are bound to client, redirect URI and
 * challenge and work once, every answer carries `iss`, and returning users are not asked again.
 * Most cross-application attacks depend on consent without a question. Malicious vendors are the
 * same with one other answer.
 */
import { createHash, randomBytes } from "node:crypto";

export interface VendorRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  readonly form: URLSearchParams;
}

export interface FakeVendorOptions {
  /** `https://honest.example`, without a path; also the issuer. */
  readonly origin: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  /** Default false: our client there has no secret. */
  readonly isPublic?: boolean;
  /**
   * Whether a redirect URI that was sent is the registered one. The default compares them exactly.
   */
  readonly isRegistered?: (sent: string, registered: string) => boolean;
  /** Default true: sends `iss` in every answer and announces it in its metadata. */
  readonly sendsIss?: boolean;
  /** Overrides the vendor's own metadata. May change between two calls. */
  readonly metadata?: () => Readonly<Record<string, unknown>>;
  /** Replaces what an honest vendor does with a browser. */
  readonly authorize?: (url: URL, user: string, honest: (url: URL, user: string) => URL) => URL;
  /** Replaces what an honest vendor answers at its token endpoint. */
  readonly token?: (request: VendorRequest, honest: (request: VendorRequest) => Response) => Response;
}

export interface FakeVendor {
  readonly origin: string;
  /**
   * Where the vendor sends the browser of `user`.
   * @throws Error when it would show a separate page instead
   */
  authorize(url: URL, user: string): URL;
  /** Answers every request of the broker: metadata, tokens. */
  answer(request: VendorRequest): Response;
  /** What reached the token endpoint, oldest first. */
  readonly tokenRequests: readonly VendorRequest[];
  /** Every code it issued. */
  readonly codes: readonly string[];
  /** Every token it issued. */
  readonly tokens: readonly string[];
}

interface Granted {
  readonly user: string;
  readonly redirectUri: string;
  readonly codeChallenge: string | null;
}

/** `token-of-victim-…`: the token names its user. */
export function ownerOf(accessToken: unknown): string | undefined {
  return /^token-of-([a-z]+)-/.exec(String(accessToken))?.[1];
}

export function createFakeVendor(options: FakeVendorOptions): FakeVendor {
  const { origin, clientId, clientSecret, redirectUri, sendsIss = true, isPublic = false } = options;
  const { isRegistered = (sent, registered) => sent === registered } = options;
  const granted = new Map<string, Granted>();
  const refreshable = new Map<string, string>();
  const tokenRequests: VendorRequest[] = [];
  const codes: string[] = [];
  const tokens: string[] = [];
  const iss = sendsIss ? { iss: origin } : {};

  const authorize = (url: URL, user: string): URL => {
    const asked = url.searchParams;
    if (asked.get("client_id") !== clientId) throw new Error(`${origin}: unknown client_id`);
    const sent = asked.get("redirect_uri") ?? "";
    if (!isRegistered(sent, redirectUri)) throw new Error(`${origin}: redirect_uri is not registered`);
    const code = `code-of-${user}-${randomBytes(24).toString("base64url")}`;
    codes.push(code);
    granted.set(code, { user, redirectUri: sent, codeChallenge: asked.get("code_challenge") });
    return withParameters(sent, { code, state: asked.get("state") ?? "", ...iss });
  };

  const tokensFor = (user: string): Response => {
    const [access, refresh] = [`token-of-${user}-${random()}`, `refresh-of-${user}-${random()}`];
    refreshable.set(refresh, user);
    tokens.push(access, refresh);
    return Response.json({
      access_token: access,
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: refresh,
      scope: "read",
    });
  };

  const token = ({ headers, form }: VendorRequest): Response => {
    const expected = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
    const isOurs = isPublic ? form.get("client_id") === clientId : headers.get("authorization") === expected;
    if (!isOurs) return refusal("invalid_client", 401);
    if (form.get("grant_type") === "refresh_token") {
      const user = refreshable.get(form.get("refresh_token") ?? "");
      return user === undefined ? refusal("invalid_grant") : tokensFor(user);
    }
    const code = form.get("code") ?? "";
    const grant = granted.get(code);
    granted.delete(code);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (grant === undefined || grant.redirectUri !== form.get("redirect_uri")) return refusal("invalid_grant");
    return grant.codeChallenge === challenge ? tokensFor(grant.user) : refusal("invalid_grant");
  };

  return {
    origin,
    authorize: (url, user) => (options.authorize ?? ((_url, _user, honest) => honest(url, user)))(url, user, authorize),
    answer: (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/.well-known/openid-configuration") return Response.json(metadataOf(options));
      if (pathname !== "/token") return new Response("nothing here", { status: 404 });
      tokenRequests.push(request);
      return (options.token ?? ((_request, honest) => honest(request)))(request, token);
    },
    tokenRequests,
    codes,
    tokens,
  };
}

function metadataOf({ origin, sendsIss = true, metadata }: FakeVendorOptions): Record<string, unknown> {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
    code_challenge_methods_supported: ["S256"],
    ...(sendsIss ? { authorization_response_iss_parameter_supported: true } : {}),
    ...metadata?.(),
  };
}

export function withParameters(base: string, parameters: Readonly<Record<string, string>>): URL {
  const url = new URL(base);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

function refusal(error: string, status = 400): Response {
  return Response.json({ error }, { status });
}

function random(): string {
  return randomBytes(24).toString("base64url");
}
