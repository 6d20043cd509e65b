import { describeBrokeredCode, VENDOR_ISSUER } from "@oauth-broker/oauth-core/testing";
import { REDIRECT_URI, CODE_VERIFIER, testBroker } from "../testing/test-broker.ts";

describeBrokeredCode("the broker", async () => {
  const vendor = { issuer: VENDOR_ISSUER, issuesIdTokens: false };
  const broker = await testBroker({ vendor });
  const redeem = async (code: string, changes: Readonly<Record<string, string>> = {}, clientId = "platform") => {
    const form = { grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI, code_verifier: CODE_VERIFIER };
    const { response, body } = await broker.post("/v1/token", { ...form, ...changes }, clientId);
    return { status: response.status, error: body["error"] };
  };
  return {
    start: async () => {
      const { body } = await broker.push();
      const { location, cookie } = await broker.get(broker.authorizePath(body["request_uri"]));
      if (location === undefined || cookie === undefined) throw new Error("the browser did not leave");
      return { vendor: location, cookie };
    },
    callback: async (parameters, cookie) => {
      const { response, location } = await broker.callback(parameters, cookie);
      return { status: response.status, location };
    },
    redeem,
    redeemAsOther: (code) => redeem(code, {}, "other"),
    vendorCalls: () => broker.seen.filter(({ form }) => form.has("code")).length,
    advance: (seconds) => broker.now.advance(seconds),
    burnsOnWrongVerifier: true,
    close: () => broker.close(),
  };
});
