/** The platform's callback, and a vendor that does not report the granted scope (RFC 6749 §5.1). */
import { randomBytes } from "node:crypto";
import { deriveCodeChallenge } from "@oauth-broker/oauth-core/protocol";
import { linkOf, openOpenIdFixture, type OpenIdFixture } from "../hosted-fixture.ts";

export interface SilentVendorFixture extends OpenIdFixture {
  /**
   * The same user signs in again.
   *
   * @param scope absent: the request names none
   */
  signIn(scope?: string): Promise<SilentSignIn>;
}

interface SilentSignIn {
  readonly status: number;
  /** The scope of the session. */
  readonly scope: string | undefined;
  /** The link after this sign-in. */
  readonly link: Awaited<ReturnType<typeof linkOf>>;
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
  const signIn: SilentVendorFixture["signIn"] = async (scope) => {
    const codeVerifier = randomBytes(32).toString("base64url");
    const { code } = await fixture.consent({ scope, code_challenge: deriveCodeChallenge(codeVerifier) });
    const { status, body } = await fixture.token({ code, code_verifier: codeVerifier });
    return { status, scope: body["scope"], link: await linkOf(fixture) };
  };
  return { ...fixture, signIn };
}
