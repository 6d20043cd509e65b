/**
 * Pre-registered mode: the bearer token is the user's vendor token, which the platform sends. The
 * vendor judges it before any tool runs. Its verdict is kept by the token's hash for seconds, so
 * that a burst of calls asks once and a token that ends is not good for long. The token is stored
 * nowhere. How many unknown tokens get this far: mcp/refused-tokens.ts.
 */
import {
  canJudge,
  type Clock,
  createExpiringMap,
  type EpochSeconds,
  hashOf,
  type ResolvedVendor,
  Secret,
  type VendorClient,
} from "@oauth-broker/oauth-core";
import type { Caller, Gate, VendorToken } from "../mode.ts";
import type { VendorSettings } from "../settings.ts";

type Verdict = Awaited<ReturnType<VendorClient["judgeToken"]>>;

export interface PreRegisteredGateDeps {
  readonly settings: Pick<VendorSettings, "credentials">;
  readonly vendor: () => Promise<ResolvedVendor>;
  readonly vendorClient: Pick<VendorClient, "judgeToken">;
  readonly now: Clock;
}

/** How long what the vendor says of a good token is believed, and a refusal of its API. */
export const VERDICT_SECONDS = 10;
/** A token the vendor refused does not become good: for this long it is not asked about again. */
export const REFUSED_SECONDS = 60;
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
        // The bearer token is the vendor token.
        vendorScope: scope,
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

/**
 * What only the vendor's metadata tells: that it has no way to be asked, or none that says which
 * client a token is of. Where it shows in the settings, config/vendor.ts refuses them.
 *
 * @returns for the log at start; undefined also while the vendor cannot be asked
 */
export async function judgementWarning({
  settings: { credentials },
  vendor,
}: Pick<PreRegisteredGateDeps, "settings" | "vendor">): Promise<string | undefined> {
  const resolved = await vendor().catch(() => undefined);
  if (resolved === undefined || canJudge(resolved, credentials)) return undefined;
  return canJudge(resolved, undefined)
    ? "VENDOR does not say which client a token was issued to, and VENDOR_CLIENT_ID is set, so every call will fail: set VENDOR_CLIENT_SECRET and VENDOR_INTROSPECTION_URL, or unset VENDOR_CLIENT_ID"
    : "VENDOR has no way to ask whether a user's token is good, so every call will fail: set VENDOR_USERINFO_URL or VENDOR_INTROSPECTION_URL";
}

interface Verdicts {
  /** @throws OAuthError temporarily_unavailable, and nothing is kept */
  of(token: string): Promise<Verdict>;
  /** The vendor's API refused it, whatever was said before. */
  refuse(token: string): void;
}

function createVerdicts({ settings, vendor, vendorClient, now }: PreRegisteredGateDeps): Verdicts {
  // Apart, so that tokens tried out by strangers push out no token that is in use.
  const good = createExpiringMap<Verdict>(MOST_VERDICTS, now);
  const refused = createExpiringMap<Verdict>(MOST_VERDICTS, now);
  const asked = new Map<string, Promise<Verdict>>();
  const keep = (key: string, verdict: Verdict, until: EpochSeconds): void => {
    const [into, outOf] = verdict.active ? [good, refused] : [refused, good];
    outOf.delete(key);
    into.set(key, verdict, until);
  };
  const keptOf = (key: string): Verdict | undefined => {
    const kept = refused.get(key) ?? good.get(key);
    return kept === undefined ? undefined : stillGood(kept, now);
  };
  const ask = async (token: string, key: string): Promise<Verdict> => {
    const askedAt = now();
    const asking = vendor().then(async (found) => vendorClient.judgeToken(found, token, settings.credentials));
    asked.set(key, asking);
    try {
      const verdict = await asking;
      // Refused by the API meanwhile: that is the later word.
      if (asked.get(key) === asking) keep(key, verdict, askedAt + (verdict.active ? VERDICT_SECONDS : REFUSED_SECONDS));
      return verdict;
    } finally {
      // What could not be said is asked again by the next call.
      if (asked.get(key) === asking) asked.delete(key);
    }
  };
  return {
    of: async (token) => {
      const key = hashOf(token);
      return keptOf(key) ?? asked.get(key) ?? ask(token, key);
    },
    refuse: (token) => {
      const key = hashOf(token);
      asked.delete(key);
      keep(key, { active: false, reason: "refused_by_api" }, now() + VERDICT_SECONDS);
    },
  };
}

function stillGood(verdict: Verdict, now: Clock): Verdict {
  const isOver = verdict.active && verdict.expiresAt !== undefined && verdict.expiresAt <= now();
  return isOver ? { active: false, reason: "expired" } : verdict;
}
