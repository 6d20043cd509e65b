import { describeBrokeredCode, VENDOR_ISSUER } from "@oauth-broker/oauth-core/testing";
import { SERVER } from "../../testing/hosted-fixture.ts";
import { openStubServerFixture, OTHER } from "../../testing/server-fixture.ts";
import { deriveKey, open } from "@oauth-broker/token-store";
import { expect, it } from "vitest";
import { testServerKey } from "../../testing/test-sessions.ts";
import { flowPolicy } from "./policy.ts";

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
    vendorCalls: () => fixture.stub.requests("/token"),
    advance: (seconds) => fixture.clock.advance(seconds),
    burnsOnWrongVerifier: false,
    close: () => fixture.close(),
  };
});

it("bar#TS-3 parked tokens open with our code and the server key, and with neither alone", async () => {
  await using fixture = await openStubServerFixture();
  const findClient = async () => undefined;
  const deps = { ...fixture, findClient };
  const at = { value: "our-code", flowId: "flow-1", hash: "" };
  const parked = {
    kind: "tokens",
    tokens: { accessToken: "vendor-token", tokenType: "Bearer", vendorData: {} },
  } as never;
  const sealed = await flowPolicy(deps).seal(parked, at);
  const flow = { sealed } as never;
  expect(await flowPolicy(deps).open(flow, at)).toEqual(parked);
  const elsewhere = flowPolicy({ ...deps, serverKey: testServerKey(fixture.now) });
  await expect(elsewhere.open(flow, at)).rejects.toMatchObject({ code: "unreadable" });
  await expect(flowPolicy(deps).open(flow, { ...at, value: "another" })).rejects.toMatchObject({ code: "unreadable" });
  const body = sealed.slice("tokens.".length);
  for (const key of [deriveKey("our-code", "parked-tokens"), deriveKey("our-code", "vendor-code")]) {
    expect(() => open(key, body, ["authorization", "flow-1", "tokens"])).toThrow(
      expect.objectContaining({ code: "unreadable" }),
    );
  }
});
