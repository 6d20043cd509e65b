import { deriveCodeChallenge } from "@oauth-broker/oauth-core/protocol";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { openSilentVendorFixture } from "../../testing/vendors/silent-vendor.ts";

const ALL = "openid profile api:read api:write";
const LESS = "openid api:read";

const fixture = ofEachTest(openSilentVendorFixture);

describe("rfc6749#5.1 a vendor that does not report what it granted, with the platform's callback,", () => {
  it("granted what the narrower request asked for, and the link keeps the broader tokens", async () => {
    const broad = await fixture.signIn();
    const narrow = await fixture.signIn(LESS);
    expect(narrow).toMatchObject({ status: 200, scope: LESS });
    expect(broad).toMatchObject({ status: 200, scope: ALL, link: { scope: ALL } });
    expect(narrow.link).toEqual(broad.link);
  });

  it("has its newest tokens kept where a broader request follows", async () => {
    const narrow = await fixture.signIn(LESS);
    const broad = await fixture.signIn(ALL);
    expect(broad).toMatchObject({ scope: ALL, link: { scope: ALL } });
    expect(broad.link.token).not.toBe(narrow.link.token);
  });
});

describe("a request for less than VENDOR_SCOPES", () => {
  const ask = async (codeVerifier: string, scope?: string) =>
    fixture.authorize({ scope, code_challenge: deriveCodeChallenge(codeVerifier) });
  const recordOf = async (codeVerifier: string) =>
    fixture.table.get({ kind: "narrow-request", id: hashOf(deriveCodeChallenge(codeVerifier)) });

  it("alone leaves a record, which a second one of the same flow does not change", async () => {
    const [all, less] = ["a".repeat(43), "b".repeat(43)] as const;
    await ask(all);
    await ask(all, "api:write api:read profile openid");
    expect(await recordOf(all)).toBeUndefined();
    await ask(less, LESS);
    await ask(less, "openid api:write");
    expect((await recordOf(less))?.data).toMatchObject({ scope: LESS });
  });

  it("is refused in an outage before the browser goes to the vendor", async () => {
    await ask("a".repeat(43)); // the server key exists from now on
    fixture.down.add("records");
    const refused = await ask("b".repeat(43), LESS);
    expect(new URL(refused.headers.get("location") ?? "").searchParams.get("error")).toBe("temporarily_unavailable");
    expect((await ask("b".repeat(43))).headers.get("location")).toMatch(fixture.provider.issuer);
  });
});
