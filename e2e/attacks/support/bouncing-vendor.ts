/**
 * The attacker's vendor of the cross-app attacks: it sends each browser on to an honest vendor, as
 * the broker's client there, whose id is public: it is in every URL that users see.
 */
import {
  atCallback,
  awayFromBroker,
  type Backend,
  bounced,
  type Browser,
  type Form,
  parameter,
  withParameters,
} from "./actors.ts";
import { CALLBACK, HONEST, VENDOR_CLIENT, vendorAt } from "./names.ts";

export interface BounceOptions {
  readonly origin: string;
  readonly sendsIss?: boolean;
  /**
   * The redirect URI it forwards; the default is the broker's one.
   *
   * @param own the one of the attacker's flow
   */
  readonly bounceTo?: (own: string) => string;
}

export type BouncingVendor = ReturnType<typeof createBouncingVendor>;
export function createBouncingVendor({ origin, bounceTo, ...options }: BounceOptions) {
  let forwarded: string | undefined;
  const vendor = vendorAt(origin, {
    ...options,
    authorize: (url) => {
      const redirectUri = bounceTo === undefined ? CALLBACK : bounceTo(parameter(url, "redirect_uri"));
      const own = { client_id: VENDOR_CLIENT.clientId, redirect_uri: redirectUri, scope: "read" };
      const challenge = forwarded === undefined ? {} : { code_challenge: forwarded };
      return bounced(url.searchParams, `${HONEST}/authorize`, { ...own, ...challenge });
    },
    token: () => ({ status: 400, body: { error: "invalid_grant" } }),
  });
  return {
    ...vendor,
    /** From now on it forwards this challenge, and not the one it is sent. */
    forward: (codeChallenge: string) => void (forwarded = codeChallenge),
    /** @returns the code that reached its token endpoint */
    stolen: () => vendor.tokenRequests[0]?.form.get("code") ?? undefined,
  };
}

export interface CrossApp {
  readonly attacker: Browser;
  readonly victim: Browser;
  /** Where the attacker begins their own flow at the honest vendor. */
  readonly own: Backend;
  /** Where the victim's flow at the evil vendor begins, and with which form. */
  readonly lure: readonly [backend: Backend, form: Form];
  readonly evil: BouncingVendor;
  /** What the attacker adds to the stolen code at the callback. */
  readonly beside?: Readonly<Record<string, string>>;
}

/**
 * The classic attack: the attacker opens their own flow at the honest vendor and keeps its
 * challenge. The victim connects to the evil vendor, is bounced to the honest one with that
 * challenge, and comes back with an honest code in a flow of the evil one. The victim's platform
 * redeems as usual.
 */
export async function crossApp({ attacker, victim, own, lure: [backend, form], evil, beside = {} }: CrossApp) {
  const { flow: begun, url: ownVendorUrl } = await own.start(attacker, awayFromBroker, { vendor: "honest" });
  evil.forward(parameter(ownVendorUrl, "code_challenge"));
  const { flow: lured, url: answer } = await backend.start(victim, atCallback, form);
  const destination = await victim.visit(answer);
  const code = destination.url.searchParams.get("code");
  if (code !== null) await backend.redeem(code, lured.codeVerifier);
  return {
    lured,
    answer,
    destination,
    stolen: evil.stolen(),
    /** The attacker pastes the stolen code into their own flow. */
    redeemStolen: async () => {
      const state = parameter(ownVendorUrl, "state");
      const back = await attacker.visit(withParameters(CALLBACK, { code: evil.stolen() ?? "", state, ...beside }));
      return own.redeem(parameter(back.url, "code"), begun.codeVerifier);
    },
  };
}
