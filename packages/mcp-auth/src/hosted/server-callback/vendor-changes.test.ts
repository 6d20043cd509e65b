/**
 * A vendor's metadata may change while the user is at the vendor; the flow keeps the values it
 * began with.
 */
import { describe, expect, it } from "vitest";
import { expectPage, openStubServerFixture } from "../../testing/server-fixture.ts";

/** The vendor's answer, without `iss`. */
function callbackOf(vendor: URL): string {
  const state = vendor.searchParams.get("state") ?? "";
  return `/callback?${new URLSearchParams({ code: "c", state }).toString()}`;
}

it.each([
  ["when the flow began, and no longer", true, false],
  ["only after the flow began", false, true],
])("rfc9207#2.4 a vendor that advertised iss %s has to send it", async (_when, then, afterwards) => {
  let issExpected = then;
  await using fixture = await openStubServerFixture({
    vendorClient: (real) => ({
      ...real,
      resolve: async (...parameters) => ({ ...(await real.resolve(...parameters)), issExpected }),
    }),
  });
  const browser = fixture.browser();
  const vendor = await browser.approve();
  issExpected = afterwards;
  expect(await expectPage(await browser.get(callbackOf(vendor)))).toContain("does not identify its issuer");
});

describe("bar#AS-5 a code of ours", () => {
  it("lives no longer than the vendor's own", async () => {
    await using fixture = await openStubServerFixture();
    Object.assign(fixture.settings.vendor.vendor, { authorizationCodeLifetimeSeconds: 30 });
    const code = await fixture.codeOf();
    fixture.clock.advance(26);
    expect((await fixture.redeem(code)).body["error"]).toBe("invalid_grant");
  });

  it.each([3, 5, 6])("lives at least a second where the vendor's own lives %d s", async (seconds) => {
    await using fixture = await openStubServerFixture();
    Object.assign(fixture.settings.vendor.vendor, { authorizationCodeLifetimeSeconds: seconds });
    const browser = fixture.browser();
    const answer = await browser.get(callbackOf(await browser.approve()));
    const code = new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
    expect((await fixture.redeem(code)).status).toBe(200);
  });
});
