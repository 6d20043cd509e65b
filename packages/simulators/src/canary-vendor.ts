/**
 * A vendor whose tokens name their user, for races and mix-ups: codes need no browser, refresh
 * tokens rotate, one that is used twice ends the grant, and the account endpoint names the user of
 * the token. Not a model of any real server.
 *
 * Also a program: `node src/canary-vendor.ts` prints one JSON line with `url` and serves until it
 * is ended.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Respond, type ScriptedAnswer, startScriptedVendor } from "./scripted-vendor.ts";

export interface CanaryVendor {
  readonly url: string;
  counts(): CanaryCounts;
  /** Makes every response an outage (503 with Retry-After), or none. */
  outage(isDown: boolean): void;
  close(): Promise<void>;
}

export interface CanaryCounts {
  /** Requests with a code, regardless of the outcome. */
  readonly codes: number;
  readonly refreshes: number;
  /** Refreshes beyond `refreshesPerSecond`: answered 429, and nothing was spent. */
  readonly throttled: number;
  /** Refresh tokens presented a second time: each ended its grant. */
  readonly replays: number;
  readonly accounts: number;
}

export interface CanaryVendorOptions {
  /** The lifetime of access tokens; default an hour. */
  readonly lifetimeSeconds?: number;
  /** The lifetime of an access token that a code is redeemed for; default `lifetimeSeconds`. */
  readonly firstLifetimeSeconds?: number;
  /** Further refreshes within a second get 429 with `Retry-After: 1`; default no limit. */
  readonly refreshesPerSecond?: number;
  /** How long a refresh takes, so that concurrent callers overlap; default 0. */
  readonly refreshMs?: number;
}

interface Grant {
  readonly user: string;
  refreshToken: string;
  isOver: boolean;
}

const HOUR_SECONDS = 3600;
const INVALID_GRANT: ScriptedAnswer = { status: 400, body: { error: "invalid_grant" } };

/**
 * A code is `code.USER.ANYTHING`, good once; an access token `canary.USER.RANDOM`. Clients are not
 * authenticated.
 */
export async function startCanaryVendor(options: CanaryVendorOptions = {}): Promise<CanaryVendor> {
  const { lifetimeSeconds = HOUR_SECONDS, firstLifetimeSeconds = lifetimeSeconds, refreshMs = 0 } = options;
  const isWithinLimit = createLimit(options.refreshesPerSecond ?? Infinity);
  const spentCodes = new Set<string>();
  const grants = new Map<string, Grant>();
  const users = new Map<string, string>();
  const counts = { codes: 0, refreshes: 0, throttled: 0, replays: 0, accounts: 0 };
  let isDown = false;

  const issue = (grant: Grant, expiresIn = lifetimeSeconds): ScriptedAnswer => {
    const accessToken = `canary.${grant.user}.${random()}`;
    grant.refreshToken = `renew.${grant.user}.${random()}`;
    users.set(accessToken, grant.user);
    grants.set(grant.refreshToken, grant);
    const refreshToken = { refresh_token: grant.refreshToken, scope: "read" };
    return { body: { access_token: accessToken, token_type: "Bearer", expires_in: expiresIn, ...refreshToken } };
  };
  const redeem = (code: string): ScriptedAnswer => {
    counts.codes += 1;
    const user = /^code\.([^.]+)\./.exec(code)?.[1];
    if (user === undefined || spentCodes.has(code)) return INVALID_GRANT;
    spentCodes.add(code);
    return issue({ user, refreshToken: "", isOver: false }, firstLifetimeSeconds);
  };
  const refresh = async (refreshToken: string): Promise<ScriptedAnswer> => {
    counts.refreshes += 1;
    if (!isWithinLimit()) {
      counts.throttled += 1;
      return { status: 429, headers: { "Retry-After": "1" } };
    }
    const grant = grants.get(refreshToken);
    if (grant !== undefined && grant.refreshToken !== refreshToken) {
      counts.replays += 1;
      grant.isOver = true;
    }
    if (grant === undefined || grant.isOver) return INVALID_GRANT;
    const reply = issue(grant);
    if (refreshMs > 0) await sleep(refreshMs);
    return reply;
  };
  const account = (header: string | undefined): ScriptedAnswer => {
    counts.accounts += 1;
    const user = users.get(header?.replace(/^Bearer /, "") ?? "");
    return user === undefined ? { status: 401, body: { error: "invalid_token" } } : { body: { sub: user } };
  };
  const unlessDown =
    (respond: Respond): Respond =>
    (request, response) =>
      isDown ? { status: 503, headers: { "Retry-After": "1" } } : respond(request, response);
  const script = {
    "/account": unlessDown(({ headers }) => account(headers.authorization)),
    "/token": unlessDown(({ form }) => {
      const refreshToken = form.get("refresh_token");
      return refreshToken === null ? redeem(form.get("code") ?? "") : refresh(refreshToken);
    }),
    "*": unlessDown(() => ({ status: 404, body: {} })),
  };
  const { url, close } = await startScriptedVendor(script, { keepsRequests: false });
  return {
    url,
    counts: () => ({ ...counts }),
    outage: (down) => {
      isDown = down;
    },
    close,
  };
}

/** A new code of this user, as if they had just approved. */
export function canaryCode(user: string): string {
  return `code.${user}.${random()}`;
}

/** The environment of a deployed server with this vendor. */
export function canaryEnvironment(url: string): Readonly<Record<string, string>> {
  return {
    VENDOR: "canary",
    VENDOR_AUTHORIZATION_URL: `${url}/authorize`,
    VENDOR_TOKEN_URL: `${url}/token`,
    VENDOR_USERINFO_URL: `${url}/account`,
    VENDOR_CLIENT_ID: "our-client",
    VENDOR_CLIENT_SECRET: "our-secret-at-the-vendor",
    EGRESS_ALLOW_LOOPBACK: "true",
  };
}

/** @returns whether another call is within the limit of the current second; counts it if so */
function createLimit(perSecond: number): () => boolean {
  let second = 0;
  let count = 0;
  return () => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) {
      second = now;
      count = 0;
    }
    if (count >= perSecond) return false;
    count += 1;
    return true;
  };
}

function random(): string {
  return randomBytes(24).toString("base64url");
}

// The name is checked too: in a bundle of one file every module is the main one.
if (import.meta.main && import.meta.filename.endsWith("canary-vendor.ts")) {
  const { url } = await startCanaryVendor();
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}
