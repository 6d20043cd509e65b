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

interface Stored {
  readonly value: string;
  readonly kind: "access" | "refresh";
  readonly grant: Grant;
  /** Seconds since 1970, as is `expiresAt`. */
  readonly issuedAt: number;
  /** Undefined = valid until it is ended. */
  readonly expiresAt: number | undefined;
  ended?: "revoked" | "rotated";
}

export interface HeldToken extends Readonly<Omit<Stored, "ended">> {
  /** Why it is no longer valid, `live` when it is. */
  readonly state: "live" | "expired" | "revoked" | "rotated";
}

export function newGrant(grant: Omit<Grant, "id">): Grant {
  return { id: randomUUID(), ...grant };
}

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens({ now }: { readonly now: Clock }) {
  const tokens = new Map<string, Stored>();
  const held = (token: Stored): HeldToken => {
    const isExpired = token.expiresAt !== undefined && token.expiresAt <= now();
    return { ...token, state: token.ended ?? (isExpired ? "expired" : "live") };
  };
  return {
    /** @param options.prefix of tokens of this kind */
    issue(
      kind: HeldToken["kind"],
      grant: Grant,
      {
        prefix = "",
        lifetimeSeconds,
      }: { readonly prefix?: string; readonly lifetimeSeconds?: number | undefined } = {},
    ): string {
      const value = prefix + randomBytes(27).toString("base64url");
      const expiresAt = lifetimeSeconds === undefined ? undefined : now() + lifetimeSeconds;
      tokens.set(value, { value, kind, grant, issuedAt: now(), expiresAt });
      return value;
    },
    /** Ended ones too; undefined for a text that was never a token here, or another kind or app's. */
    find(value = "", kind?: HeldToken["kind"], clientId?: string): HeldToken | undefined {
      const token = tokens.get(value);
      if (token === undefined || (kind ?? token.kind) !== token.kind) return undefined;
      return (clientId ?? token.grant.clientId) === token.grant.clientId ? held(token) : undefined;
    },
    end(value: string, why: "revoked" | "rotated"): void {
      const token = tokens.get(value);
      if (token !== undefined) token.ended ??= why;
    },
    /** Ends all tokens of the matching grants. */
    endGrants(fits: (grant: Grant) => boolean, why: "revoked" | "rotated" = "revoked"): void {
      for (const token of tokens.values()) if (fits(token.grant)) token.ended ??= why;
    },
    live: (): readonly HeldToken[] => [...tokens.values()].map(held).filter(({ state }) => state === "live"),
  };
}
