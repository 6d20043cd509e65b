import { describeBrokeredCode, VENDOR_ISSUER } from "@oauth-broker/oauth-core/testing";
import { SERVER } from "../../testing/hosted-fixture.ts";
import { openStubServerFixture, OTHER } from "../../testing/server-fixture.ts";

describeBrokeredCode("a deployed server", async () => {
  const fixture = await openStubServerFixture();
  Object.assign(fixture.settings.vendor.vendor, { issuer: VENDOR_ISSUER, issuesIdTokens: false });
  const redeem = async (code: string, changes: Readonly<Record<string, string>> = {}) => {
    const { status, body } = await fixture.redeem(code, changes);
    return { status, error: body["error"] };
  };
  return {
    start: async () => {
      const browser = fixture.browser();
      const vendor = await browser.approve();
      return { vendor, cookie: browser.jar.header(new URL(`${SERVER}/callback`)) ?? "" };
    },
    callback: async (parameters, cookie) => {
      const headers = cookie === undefined ? {} : { cookie };
      const answer = await fixture.request(`/callback?${new URLSearchParams(parameters).toString()}`, { headers });
      const location = answer.headers.get("location");
      return { status: answer.status, location: location === null ? undefined : new URL(location) };
    },
    redeem,
    redeemAsOther: (code) => redeem(code, { client_id: OTHER.clientId }),
    vendorCalls: () => fixture.stub.counts()["/token"] ?? 0,
    advance: (seconds) => fixture.clock.advance(seconds),
    burnsOnWrongVerifier: false,
    close: () => fixture.close(),
  };
});
