/** Every token a vendor has issued, and its state. */
import { randomBytes, randomUUID } from "node:crypto";
import type { Clock } from "../../clock.ts";

/** One user, one app, one consent: the tokens that end together with a grant. */
export interface Grant {
  readonly id: string;
  /** Id of the user who approved. */
  readonly user: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
}

export interface HeldToken {
  readonly value: string;
  readonly kind: "access" | "refresh";
  readonly grant: Grant;
  /** Seconds since 1970, as is `expiresAt`. */
  readonly issuedAt: number;
  /** Undefined = valid until it is ended. */
  readonly expiresAt: number | undefined;
  /** Why it is no longer valid, `live` when it is. */
  readonly state: "live" | "expired" | "revoked" | "rotated";
}

export interface Tokens {
  /** @param options.prefix of tokens of this kind */
  issue(
    kind: HeldToken["kind"],
    grant: Grant,
    options?: { readonly prefix?: string; readonly lifetimeSeconds?: number | undefined },
  ): string;
  /** Ended ones too; undefined for a text that was never a token here, or another kind or app's. */
  find(value: string | undefined, kind?: HeldToken["kind"], clientId?: string): HeldToken | undefined;
  end(value: string, why: "revoked" | "rotated"): void;
  /** Ends all tokens of the matching grants; by default as revoked. */
  endGrants(fits: (grant: Grant) => boolean, why?: "revoked" | "rotated"): void;
  live(): readonly HeldToken[];
}

export function newGrant(grant: Omit<Grant, "id">): Grant {
  return { id: randomUUID(), ...grant };
}

export function createTokens({ now }: { readonly now: Clock }): Tokens {
  interface Stored extends Omit<HeldToken, "state"> {
    ended?: "revoked" | "rotated";
  }
  const tokens = new Map<string, Stored>();
  const held = (token: Stored): HeldToken => {
    const isExpired = token.expiresAt !== undefined && token.expiresAt <= now();
    return { ...token, state: token.ended ?? (isExpired ? "expired" : "live") };
  };
  const end = (token: Stored, why: "revoked" | "rotated"): void => {
    token.ended ??= why;
  };
  return {
    issue(kind, grant, { prefix = "", lifetimeSeconds } = {}) {
      const value = prefix + randomBytes(27).toString("base64url");
      const expiresAt = lifetimeSeconds === undefined ? undefined : now() + lifetimeSeconds;
      tokens.set(value, { value, kind, grant, issuedAt: now(), expiresAt });
      return value;
    },
    find(value, kind, clientId) {
      const token = tokens.get(value ?? "");
      const isOther = kind !== undefined && token?.kind !== kind;
      if (token === undefined || isOther || (clientId ?? token.grant.clientId) !== token.grant.clientId)
        return undefined;
      return held(token);
    },
    end(value, why) {
      const token = tokens.get(value);
      if (token !== undefined) end(token, why);
    },
    endGrants(fits, why = "revoked") {
      for (const token of tokens.values()) if (fits(token.grant)) end(token, why);
    },
    live: () => [...tokens.values()].map(held).filter(({ state }) => state === "live"),
  };
}
