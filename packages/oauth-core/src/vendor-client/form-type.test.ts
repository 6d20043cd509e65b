/** Every form that a vendor gets has the bare type: some vendors refuse one with a `charset`. */
import { systemTimer } from "../mechanics/system-timer.ts";
import { expect, it } from "vitest";
import { ACCESS_TOKEN, CLIENT_ID, REFRESH_TOKEN } from "../testing/network/faulty-vendor.ts";
import { labOfEachTest, NOW } from "../testing/network/vendor-lab.ts";
import type { ResolvedVendor } from "../registry/vendor.ts";
import { createVendorClient, type VendorClient } from "./index.ts";

const lab = labOfEachTest();

const FORM = "application/x-www-form-urlencoded";

/** One request of each kind. */
async function askAll(client: VendorClient): Promise<ResolvedVendor> {
  const { vendor, request } = lab;
  const at = (path: string): string => `${vendor.issuer}${path}`;
  const resolved = await client.resolve({ ...vendor.entry, introspectionEndpoint: at("/introspect") });
  const active = { active: true, token_type: "Bearer", client_id: CLIENT_ID, sub: "user", exp: NOW + 60 };
  vendor.answers.set("/introspect", { body: active });
  await client.redeemCode(resolved, vendor.credentials, request);
  await client.refreshTokens(resolved, vendor.credentials, { refreshToken: REFRESH_TOKEN });
  await client.revokeToken(resolved, vendor.credentials, { token: REFRESH_TOKEN, tokenTypeHint: "refresh_token" });
  const byToken: ResolvedVendor["revocation"] = {
    method: "POST",
    body: "form",
    tokenParameter: "t",
    authentication: "none",
    ends: "token",
    goneStatuses: [],
  };
  const dialect = { ...resolved, revocation: byToken };
  await client.revokeToken(dialect, vendor.credentials, { token: REFRESH_TOKEN });
  await client.validateAccessToken(resolved, ACCESS_TOKEN, vendor.credentials);
  return resolved;
}

const formTypes = (): unknown[] =>
  lab.vendor.received.filter(({ method }) => method === "POST").map(({ headers }) => headers["content-type"]);

it("rfc6749#B is bare at redemption, refresh, revocation and introspection", async () => {
  await askAll(lab.client);
  expect(formTypes()).toEqual([FORM, FORM, FORM, FORM, FORM]);
});

it("rfc6749#B is bare through the web's own fetch, too", async () => {
  await askAll(createVendorClient({ fetch, timer: systemTimer, now: lab.clock, allowLoopback: true }));
  expect(formTypes()).toEqual([FORM, FORM, FORM, FORM, FORM]);
});

it("is that of JSON where the vendor takes JSON", async () => {
  await lab.redeem({ entry: { tokenRequestBody: "json" } });
  expect(formTypes()).toEqual(["application/json"]);
});
