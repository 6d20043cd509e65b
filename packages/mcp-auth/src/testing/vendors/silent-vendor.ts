/** The platform's callback, and a vendor that does not report the granted scope (RFC 6749 §5.1). */
import { randomBytes } from "node:crypto";
import { deriveCodeChallenge } from "@oauth-broker/oauth-core/protocol";
import { linkKey } from "../../hosted/links/link.ts";
import { openOpenIdFixture, type OpenIdFixture } from "../hosted-fixture.ts";

export interface SilentVendorFixture extends OpenIdFixture {
  /**
   * The same user signs in again.
   *
   * @param scope absent: the request names none
   */
  signIn(scope?: string): Promise<SilentSignIn>;
  /** The current link of the session's user. */
  linked(access: string): Promise<Link>;
}

interface Link {
  readonly token: string | undefined;
  readonly scope: string | undefined;
}

interface SilentSignIn {
  readonly status: number;
  readonly access: string;
  /** The scope of the session. */
  readonly scope: string | undefined;
  /** The link after this sign-in. */
  readonly link: Link;
}

export async function openSilentVendorFixture(): Promise<SilentVendorFixture> {
  const fixture = await openOpenIdFixture({
    vendorClient: (real) => ({
      ...real,
      redeemCode: async (...parameters) => {
        const { scope: _unsaid, ...tokens } = await real.redeemCode(...parameters);
        return tokens;
      },
    }),
  });
  const linked: SilentVendorFixture["linked"] = async (access) => {
    const session = await fixture.sessions.identify(access);
    if (session === undefined) throw new Error("there is no session");
    const tokens = (await fixture.tokens.get(linkKey(session.user, fixture)))?.tokens;
    return { token: tokens?.accessToken.reveal(), scope: tokens?.scope };
  };
  const signIn: SilentVendorFixture["signIn"] = async (scope) => {
    const codeVerifier = randomBytes(32).toString("base64url");
    const { code } = await fixture.consent({ scope, code_challenge: deriveCodeChallenge(codeVerifier) });
    const { status, body } = await fixture.token({ code, code_verifier: codeVerifier });
    const access = body["access_token"] ?? "";
    return { status, access, scope: body["scope"], link: await linked(access) };
  };
  return { ...fixture, signIn, linked };
}
