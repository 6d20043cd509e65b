/** Every form that a vendor gets has the bare type: some vendors refuse one with a `charset`. */
import { expect, it } from "vitest";
import { systemTimer } from "../mechanics/system-timer.ts";
import { ACCESS_TOKEN, CLIENT_ID, REFRESH_TOKEN, soundIntrospection } from "../testing/network/faulty-vendor.ts";
import { labOfEachTest, NOW } from "../testing/network/vendor-lab.ts";
import { createVendorClient, type VendorClient } from "./index.ts";

const lab = labOfEachTest();

const FORM = "application/x-www-form-urlencoded";

it.each<[string, () => VendorClient]>([
  ["our egress", () => lab.client],
  ["the web's fetch", () => createVendorClient({ fetch, timer: systemTimer, now: lab.clock, allowLoopback: true })],
])("rfc6749#B is bare at redemption, refresh, revocation and introspection, through %s", async (_title, through) => {
  const { vendor, request } = lab;
  const client = through();
  const resolved = await client.resolve({ ...vendor.entry, introspectionEndpoint: `${vendor.issuer}/introspect` });
  vendor.answers.set("/introspect", { body: soundIntrospection(NOW) });
  await client.redeemCode(resolved, vendor.credentials, request);
  await client.refreshTokens(resolved, vendor.credentials, { refreshToken: REFRESH_TOKEN });
  await client.revokeToken(resolved, vendor.credentials, { token: REFRESH_TOKEN, tokenTypeHint: "refresh_token" });
  const own = { method: "POST", body: "form", tokenParameter: "t", authentication: "none" } as const;
  const dialect = { ...resolved, revocation: { ...own, ends: "token", goneStatuses: [] } } as const;
  await client.revokeToken(dialect, vendor.credentials, { token: REFRESH_TOKEN });
  await client.validateAccessToken(resolved, ACCESS_TOKEN, vendor.credentials);
  const forms = vendor.received.filter(({ method }) => method === "POST");
  expect(forms.map(({ headers }) => headers["content-type"])).toEqual([FORM, FORM, FORM, FORM, FORM]);
});

it("is that of JSON where the vendor takes JSON", async () => {
  await lab.redeem({ entry: { tokenRequestBody: "json", tokenEndpointAuthMethod: "client_secret_post" } });
  const [posted] = lab.vendor.received.filter(({ method }) => method === "POST");
  expect(posted?.headers).toMatchObject({ "content-type": "application/json", accept: "application/json" });
  expect(JSON.parse(posted?.body ?? "")).toEqual({
    grant_type: "authorization_code",
    code: lab.request.code,
    redirect_uri: lab.request.redirectUri,
    code_verifier: lab.request.codeVerifier,
    client_id: CLIENT_ID,
    client_secret: lab.vendor.credentials.clientSecret?.reveal(),
  });
});
