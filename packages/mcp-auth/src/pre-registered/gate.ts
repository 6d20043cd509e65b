/**
 * Pre-registered mode: the bearer token is the user's vendor token, which the platform sends. The vendor judges it before any
 * tool runs. Its verdict is kept by the token's hash for seconds, so that a burst of calls asks once and a token that ends is
 * not good for long. The token is stored nowhere.
 */
import { type Clock, hashOf, type ResolvedVendor, Secret, type VendorClient } from "@oauth-broker/oauth-core";
import type { Caller, Gate, VendorToken } from "../caller.ts";
import type { VendorSettings } from "../settings.ts";

type Verdict = Awaited<ReturnType<VendorClient["judgeToken"]>>;

export interface PreRegisteredGateDeps {
  readonly settings: Pick<VendorSettings, "credentials">;
  readonly vendor: () => Promise<ResolvedVendor>;
  readonly vendorClient: Pick<VendorClient, "judgeToken">;
  readonly now: Clock;
}

/** How long a verdict is believed. */
export const VERDICT_SECONDS = 10;
const MOST_VERDICTS = 10_000;

export function createPreRegisteredGate(deps: PreRegisteredGateDeps): Gate {
  const verdicts = createVerdicts(deps);
  return {
    identify: async (bearer) => {
      const verdict = await verdicts.of(bearer);
      if (!verdict.active) return undefined;
      const { user, clientId, scope, expiresAt = deps.now() + VERDICT_SECONDS } = verdict;
      const token: VendorToken = { accessToken: new Secret(bearer), version: 1 };
      const caller: Caller = {
        user,
        scope,
        expiresAt,
        clientId,
        vendorToken: async () => token,
        // Nobody here can renew it: the platform hears of it by the next 401.
        refused: async () => {
          verdicts.refuse(bearer);
          return undefined;
        },
      };
      return caller;
    },
  };
}

interface Verdicts {
  /** @throws OAuthError temporarily_unavailable, and nothing is kept */
  of(token: string): Promise<Verdict>;
  /** The vendor's API refused it, whatever was said before. */
  refuse(token: string): void;
}

function createVerdicts({ settings, vendor, vendorClient, now }: PreRegisteredGateDeps): Verdicts {
  // In order of age: the oldest goes first.
  const kept = new Map<string, { readonly verdict: Promise<Verdict>; readonly until: number }>();
  const keep = (key: string, verdict: Promise<Verdict>): void => {
    kept.delete(key);
    kept.set(key, { verdict, until: now() + VERDICT_SECONDS });
    const [oldest] = kept.keys();
    if (kept.size > MOST_VERDICTS && oldest !== undefined) kept.delete(oldest);
  };
  const ask = async (token: string): Promise<Verdict> =>
    vendorClient.judgeToken(await vendor(), token, settings.credentials);
  return {
    of: async (token) => {
      const key = hashOf(token);
      const known = kept.get(key);
      if (known !== undefined && known.until > now()) return stillGood(await known.verdict, now);
      const verdict = ask(token);
      keep(key, verdict);
      // What could not be said is asked again by the next call.
      verdict.catch(() => {
        if (kept.get(key)?.verdict === verdict) kept.delete(key);
      });
      return verdict;
    },
    refuse: (token) => keep(hashOf(token), Promise.resolve({ active: false, reason: "refused_by_api" })),
  };
}

function stillGood(verdict: Verdict, now: Clock): Verdict {
  const isOver = verdict.active && verdict.expiresAt !== undefined && verdict.expiresAt <= now();
  return isOver ? { active: false, reason: "expired" } : verdict;
}
