/**
 * How a vendor treats refresh tokens, in five models, without HTTP: which token it accepts, what it
 * returns, which tokens are live afterwards. server.ts puts it on a port.
 *
 * - `none`: no rotation; the response has no refresh token, the old token stays valid.
 * - `same`: no rotation; the response repeats the refresh token.
 * - `strict`: rotation; an old token means theft, so the whole grant ends.
 * - `grace`: rotation; the old token is accepted for some seconds more, later it means theft.
 * - `retry-until-used`: rotation as FAPI 2.0 requires it: the old token works until the new token was
 *   used. A retry replaces the successor that was never used.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.ts";

export const REFRESH_MODELS = ["none", "same", "strict", "grace", "retry-until-used"] as const;
export type RefreshModel = (typeof REFRESH_MODELS)[number];

export interface ModelOptions {
  readonly model: RefreshModel;
  readonly now: Clock;
  /** Lifetime of an access token; default 3600. */
  readonly accessTokenSeconds?: number;
  /** `grace`: how long an old refresh token is still accepted; default 30. */
  readonly graceSeconds?: number;
}

export interface IssuedTokens {
  readonly accessToken: string;
  /** Absent when the model returns none. */
  readonly refreshToken?: string;
  readonly expiresInSeconds: number;
}

export type ModelState = ReturnType<typeof createModel>;

interface Grant {
  readonly user: string;
  ended: boolean;
}

interface Refresh {
  readonly token: string;
  readonly grant: Grant;
  /** When its successor was issued. */
  retiredAt?: number;
  successor?: Refresh;
  used: boolean;
  /** Never accepted again, and no sign of theft. */
  dropped: boolean;
}

interface Access {
  readonly token: string;
  readonly of: Refresh;
  readonly expiresAt: number;
  revoked: boolean;
}

export function createModel(options: ModelOptions) {
  const { model, now, accessTokenSeconds = 3600, graceSeconds = 30 } = options;
  const grants = new Map<string, Grant>();
  const refreshes = new Map<string, Refresh>();
  const accesses = new Map<string, Access>();
  const counts = new Map<string, { presented: number; refreshed: number; refused: number }>();

  const countsOf = (user: string) => {
    const found = counts.get(user) ?? { presented: 0, refreshed: 0, refused: 0 };
    counts.set(user, found);
    return found;
  };
  const makeRefresh = (grant: Grant): Refresh => {
    const made: Refresh = { token: `rt-${random()}`, grant, used: false, dropped: false };
    refreshes.set(made.token, made);
    return made;
  };
  const makeAccess = (of: Refresh): string => {
    const made = { token: `at-${random()}`, of, expiresAt: now() + accessTokenSeconds, revoked: false };
    accesses.set(made.token, made);
    return made.token;
  };

  /** `theft`: the refusal also ends the grant. */
  const classify = (refresh: Refresh): "taken" | "refused" | "theft" => {
    if (refresh.grant.ended || refresh.dropped) return "refused";
    if (refresh.retiredAt === undefined) return "taken";
    if (model === "grace") return now() < refresh.retiredAt + graceSeconds ? "taken" : "theft";
    if (model === "retry-until-used") return refresh.successor?.used === true ? "refused" : "taken";
    return "theft";
  };

  const succeed = (old: Refresh): Refresh => {
    if (model === "none" || model === "same") return old;
    if (model === "retry-until-used" && old.successor !== undefined) old.successor.dropped = true;
    old.retiredAt ??= now();
    old.successor = makeRefresh(old.grant);
    return old.successor;
  };

  const isLive = ({ of, expiresAt, revoked }: Access): boolean => !revoked && !of.grant.ended && now() < expiresAt;

  return {
    /** A new grant by the user; an earlier one ends. Every model issues a refresh token here. */
    authorize(user: string) {
      const before = grants.get(user);
      if (before !== undefined) before.ended = true;
      const grant = { user, ended: false };
      grants.set(user, grant);
      const refresh = makeRefresh(grant);
      return { accessToken: makeAccess(refresh), refreshToken: refresh.token, expiresInSeconds: accessTokenSeconds };
    },
    /** @returns `refused` is invalid_grant */
    refresh(refreshToken: string): IssuedTokens | "refused" {
      const old = refreshes.get(refreshToken);
      if (old === undefined) return "refused";
      const count = countsOf(old.grant.user);
      count.presented += 1;
      const result = classify(old);
      if (result !== "taken") {
        if (result === "theft") old.grant.ended = true;
        count.refused += 1;
        return "refused";
      }
      count.refreshed += 1;
      old.used = true;
      const next = succeed(old);
      const answered = { accessToken: makeAccess(next), expiresInSeconds: accessTokenSeconds };
      return model === "none" ? answered : { ...answered, refreshToken: next.token };
    },
    /** A refresh token ends the grant, an access token only itself. Unknown tokens are ignored. */
    revoke(token: string): void {
      const [refresh, access] = [refreshes.get(token), accesses.get(token)];
      if (refresh !== undefined) refresh.grant.ended = true;
      if (access !== undefined) access.revoked = true;
    },
    /** The user of a token, live or not. */
    ownerOf: (token: string): string | undefined => (refreshes.get(token) ?? accesses.get(token)?.of)?.grant.user,
    /** The vendor's state of a user: the tokens it would accept now. */
    live: (user: string) => ({
      accessTokens: [...accesses.values()].flatMap((one) => {
        return one.of.grant.user === user && isLive(one) ? [one.token] : [];
      }),
      refreshTokens: [...refreshes.values()].flatMap((one) => {
        return one.grant.user === user && classify(one) === "taken" ? [one.token] : [];
      }),
    }),
    /** How often the user's refresh tokens were presented, and with what result. */
    counts: (user: string) => ({ ...countsOf(user) }),
  };
}

function random(): string {
  return randomBytes(24).toString("base64url");
}
