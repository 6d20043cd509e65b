/**
 * The vendor of tests, by options: which codes it accepts, what a refresh does, how it answers
 * otherwise. Its codes and tokens name their user, for races, mix-ups and attacks. It asks no user
 * anything: most attacks across applications depend on consent without a question. Not a model of
 * any real server.
 */
import { hash, randomBytes } from "node:crypto";
import { refusal, type ScriptedAnswer, type ScriptedRequest, type VendorAnswer } from "../scripted-vendor.ts";
import { createAnyCode } from "./any-code.ts";

/**
 * - `issued`: its own codes, once, with the redirect URI and the verifier they were issued for. A
 *   refresh token stays good beside the next one.
 * - `named`: those of `fakeCode`, once, so that no browser is needed. Refresh tokens rotate, and
 *   one that comes twice ends the grant.
 * - `any`: every code with a verifier, and every refresh token. No state: for load.
 */
export type AcceptedCodes = "issued" | "named" | "any";

export interface FakeVendorOptions {
  /** `https://honest.example`, without a path; also the issuer. */
  readonly origin: string;
  /** Default: `issued`. */
  readonly codes?: AcceptedCodes;
  /** Its only client; by default it authenticates none. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The one that is registered; by default any is. */
  readonly redirectUri?: string;
  /** Default false. True: the client there has no secret. */
  readonly isPublic?: boolean;
  /**
   * Whether a redirect URI that was sent is the registered one. The default compares them exactly.
   */
  readonly isRegistered?: (sent: string, registered: string) => boolean;
  /** Default true: sends `iss` beside each code and announces it in its metadata. Not with `any`. */
  readonly sendsIss?: boolean;
  /** Overrides its metadata. May change between two calls. */
  readonly metadata?: () => Readonly<Record<string, unknown>>;
  /** Replaces what an honest vendor does with a browser. */
  readonly authorize?: (url: URL, user: string, honest: (url: URL, user: string) => URL) => URL;
  /** Replaces what an honest vendor answers at its token endpoint. */
  readonly token?: (request: ScriptedRequest, honest: VendorAnswer) => ReturnType<VendorAnswer>;
  /** Further paths, or other handlers of the same paths. */
  readonly paths?: Readonly<Record<string, VendorAnswer>>;
  /** The lifetime of access tokens; default an hour. */
  readonly lifetimeSeconds?: number;
  /** The lifetime of an access token that a code is redeemed for; default `lifetimeSeconds`. */
  readonly firstLifetimeSeconds?: number;
  /** Further refreshes within a second get 429 with `Retry-After: 1`; default no limit. */
  readonly refreshesPerSecond?: number;
  /** Default true; false for load, which would fill the memory. */
  readonly keepsRequests?: boolean;
}

export type FakeVendor = ReturnType<typeof createFakeVendor>;

interface Grant {
  readonly user: string;
  /** What the code is bound to, unless it is a named one. */
  readonly to?: { readonly redirectUri: string; readonly codeChallenge: string | null };
  refreshToken?: string;
  isOver?: boolean;
}

const HOUR_SECONDS = 3600;
const OUTAGE: ScriptedAnswer = { status: 503, headers: { "Retry-After": "1" } };

export function createFakeVendor(options: FakeVendorOptions) {
  const { origin, codes: accepted = "issued", sendsIss = accepted !== "any", keepsRequests = true } = options;
  const { lifetimeSeconds = HOUR_SECONDS, firstLifetimeSeconds = lifetimeSeconds } = options;
  const isWithinLimit = createLimit(options.refreshesPerSecond ?? Infinity);
  const granted = new Map<string, Grant>();
  const spent = new Set<string>();
  const grants = new Map<string, Grant>();
  const users = new Map<string, string>();
  const requests = new Map<string, number>();
  const [tokenRequests, codes, tokens]: [ScriptedRequest[], string[], string[]] = [[], [], []];
  const counts = {
    refreshes: 0,
    /** Refreshes beyond `refreshesPerSecond`: answered 429, and nothing was spent. */
    throttled: 0,
    /** Refresh tokens presented a second time: each ended its grant. */
    replays: 0,
  };
  let isDown = false;

  const authorize = (url: URL, user: string): URL => {
    const asked = url.searchParams;
    const { clientId, redirectUri, isRegistered = (sent: string, registered: string) => sent === registered } = options;
    if (clientId !== undefined && asked.get("client_id") !== clientId) throw new Error(`${origin}: unknown client_id`);
    const sent = asked.get("redirect_uri") ?? "";
    if (redirectUri !== undefined && !isRegistered(sent, redirectUri)) {
      throw new Error(`${origin}: redirect_uri is not registered`);
    }
    const code = fakeCode(user);
    if (keepsRequests) codes.push(code);
    granted.set(code, { user, to: { redirectUri: sent, codeChallenge: asked.get("code_challenge") } });
    const back = new URL(sent);
    const answer = { code, state: asked.get("state") ?? "", ...(sendsIss ? { iss: origin } : {}) };
    for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
    return back;
  };

  const issue = (grant: Grant, expiresIn: number): ScriptedAnswer => {
    const [access, refresh] = [tokenOf("token", grant.user), tokenOf("refresh", grant.user)];
    grant.refreshToken = refresh;
    users.set(access, grant.user);
    grants.set(refresh, grant);
    if (keepsRequests) tokens.push(access, refresh);
    const pair = { access_token: access, refresh_token: refresh };
    return { body: { ...pair, token_type: "Bearer", expires_in: expiresIn, scope: "read" } };
  };
  const redeem = (form: URLSearchParams): ScriptedAnswer => {
    const code = form.get("code") ?? "";
    const user = accepted === "named" ? userIn("code", code) : undefined;
    const grant = granted.get(code) ?? (user === undefined ? undefined : { user });
    if (grant === undefined || spent.has(code)) return refusal("invalid_grant");
    spent.add(code);
    return isBoundTo(grant, form) ? issue(grant, firstLifetimeSeconds) : refusal("invalid_grant");
  };
  const refresh = (refreshToken: string): ScriptedAnswer => {
    counts.refreshes += 1;
    if (!isWithinLimit()) {
      counts.throttled += 1;
      return { status: 429, headers: { "Retry-After": "1" } };
    }
    const grant = grants.get(refreshToken);
    if (accepted === "named" && grant !== undefined && grant.refreshToken !== refreshToken) {
      counts.replays += 1;
      grant.isOver = true;
    }
    if (grant === undefined || grant.isOver === true) return refusal("invalid_grant");
    return issue(grant, lifetimeSeconds);
  };
  const any = accepted === "any" ? createAnyCode(origin) : undefined;
  const honest: VendorAnswer = (request) => {
    if (!isClient(request, options)) return refusal("invalid_client", 401);
    if (any !== undefined) return any.token(request);
    const refreshToken = request.form.get("refresh_token");
    return refreshToken === null ? redeem(request.form) : refresh(refreshToken);
  };
  const token: VendorAnswer = (request) => {
    if (keepsRequests) tokenRequests.push(request);
    return (options.token ?? ((_request, all) => all(request)))(request, honest);
  };
  const account: VendorAnswer = ({ headers }) => {
    const user = users.get(headers.authorization?.replace(/^Bearer /, "") ?? "");
    return user === undefined ? refusal("invalid_token", 401) : { body: { sub: user } };
  };
  const metadata: VendorAnswer = () => ({ body: { ...metadataOf(origin, sendsIss), ...options.metadata?.() } });
  const paths: Readonly<Record<string, VendorAnswer>> = {
    "/token": token,
    "/account": account,
    "/revoke": () => ({}),
    ...(any?.paths ?? { "/.well-known/openid-configuration": metadata }),
    ...options.paths,
  };
  return {
    origin,
    /**
     * Where the vendor sends the browser of `user`.
     * @throws Error when it would show a separate page instead
     */
    authorize: (url: URL, user: string): URL =>
      (options.authorize ?? ((_url, _user, all) => all(url, user)))(url, user, authorize),
    /** Answers every request: metadata, tokens, whose account a token is of. */
    answer: async (request: ScriptedRequest): Promise<ScriptedAnswer> => {
      requests.set(request.path, (requests.get(request.path) ?? 0) + 1);
      return isDown ? OUTAGE : ((await paths[request.path]?.(request)) ?? { status: 404, body: {} });
    },
    /** What reached the token endpoint, oldest first. */
    tokenRequests,
    /** Every code it issued. */
    codes,
    /** Every token it issued. */
    tokens,
    /** How many requests a path has had. */
    requests: (path: string): number => requests.get(path) ?? 0,
    counts: () => ({ ...counts }),
    /** Makes every answer an outage (503 with Retry-After), or none. */
    outage: (down: boolean): void => void (isDown = down),
  };
}

/** A new code of this user, as if they had just approved. */
export function fakeCode(user: string): string {
  return tokenOf("code", user);
}

/** @param accessToken `token-of-victim-…`: it names its user */
export function ownerOf(accessToken: unknown): string | undefined {
  return userIn("token", String(accessToken));
}

const RANDOM_BYTES = 24;

/** A new value that names its user. */
export function tokenOf(kind: "code" | "token" | "refresh", user: string): string {
  return `${kind}-of-${user}-${randomBytes(RANDOM_BYTES).toString("base64url")}`;
}

function userIn(kind: "code" | "token", text: string): string | undefined {
  return new RegExp(`^${kind}-of-(.+)-[\\w-]{32}$`).exec(text)?.[1];
}

function isBoundTo({ to }: Grant, form: URLSearchParams): boolean {
  if (to === undefined) return true;
  const challenge = hash("sha256", form.get("code_verifier") ?? "", "base64url");
  return to.redirectUri === form.get("redirect_uri") && to.codeChallenge === challenge;
}

function isClient(
  { headers, form }: ScriptedRequest,
  { clientId, clientSecret = "", isPublic = false }: FakeVendorOptions,
): boolean {
  if (clientId === undefined) return true;
  if (isPublic) return form.get("client_id") === clientId;
  return headers.authorization === `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
}

function metadataOf(origin: string, sendsIss: boolean): Record<string, unknown> {
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
  };
}

/** @returns whether another call is within the limit of the current second; if so, it is counted */
function createLimit(perSecond: number): () => boolean {
  let [second, count] = [0, 0];
  return () => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) [second, count] = [now, 0];
    if (count >= perSecond) return false;
    count += 1;
    return true;
  };
}
