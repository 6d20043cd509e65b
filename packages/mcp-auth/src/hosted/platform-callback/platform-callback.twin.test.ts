/**
 * The twins of authorization/request.test.ts and token-endpoint/redeem-code.test.ts: with one defence off,
 * the attack succeeds.
 */
import * as server from "@oauth-broker/oauth-core/authorization-server";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { openHostedFixture, openOpenIdFixture, startStubVendor, UNASKED_VENDOR } from "../../testing/hosted-fixture.ts";
import * as secrets from "../authorization/vendor-secrets.ts";
import * as codes from "./vendor-code.ts";

const ELSEWHERE = "https://evil.example/callback";

describe("with a defence off", () => {
  it("an unregistered redirect URI gets the error and the code (twin of bar#AS-1)", async () => {
    weaken(server, ({ verifyRedirectUri }) => ({ verifyRedirectUri: (uri) => verifyRedirectUri(uri, [uri]) }));
    await using fixture = openHostedFixture({ vendor: UNASKED_VENDOR });
    const away = async (parameters: Record<string, string>) =>
      (await fixture.authorize({ redirect_uri: ELSEWHERE, ...parameters })).headers.get("location") ?? "";
    expect(await away({ response_type: "token" })).toContain(`${ELSEWHERE}?error=`);
    expect(new URL(await away({})).searchParams.get("redirect_uri")).toBe(ELSEWHERE);
  });

  it("a code without its verifier yields tokens if PKCE #2 is independent (twin of bar#AS-3)", async () => {
    weaken(secrets, ({ vendorSecrets }) => ({
      vendorSecrets: (_challenge, ...rest) => vendorSecrets("A".repeat(43), ...rest),
    }));
    await using fixture = await openOpenIdFixture();
    const { code: stolen } = await fixture.consent();
    expect((await fixture.token({ code: stolen, code_verifier: "w".repeat(43) })).status).toBe(200);
  });

  it("a code yields tokens as often as the vendor accepts it (twin of bar#AS-4)", async () => {
    weaken(codes, () => ({ claimCode: async () => {} }));
    const { stub, ...options } = await startStubVendor();
    const fixture = openHostedFixture(options);
    try {
      const answers = [await fixture.token({ code: "c" }), await fixture.token({ code: "c" })];
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(await fixture.authenticate(answers[0]?.body["access_token"] ?? "")).toMatchObject({ user: "user" });
    } finally {
      await fixture.close();
      await stub.close();
    }
  });
});
