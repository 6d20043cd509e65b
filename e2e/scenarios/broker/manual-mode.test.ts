/**
 * The caller's own credentials and endpoints, over the wire and against a certified OpenID
 * provider that is not in the broker's configuration: what /v1/explain shows is registered there,
 * then a user connects and the tokens are refreshed and revoked.
 */
import { startOpenIdProvider } from "@oauth-broker/simulators";
import { expectError, shared } from "@oauth-broker/oauth-core/testing";
import { afterAll, expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { basic, type Form, random, readTokens } from "../../support/broker/platform.ts";
import { startHarness } from "../../support/broker/harness.ts";
import { textMember } from "../../support/text-member.ts";
import { plantVendorSecrets } from "../../support/broker/vendor.ts";

const SCOPE = "openid api:read";
const OWN = { vendor_client_id: "the-platforms-own", vendor_client_secret: random("BYOC secret") };
const harness = shared(() => startHarness());
const vendor = shared(async () => {
  const issuer = `http://127.0.0.1:${await freePort()}`;
  const endpoints = { authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
  // An administrator's first steps: ask what to register, and register it.
  const { body } = await explain({ ...endpoints, ...OWN });
  const redirectUri = textMember(body, "redirect_uri");
  const client = { clientId: OWN.vendor_client_id, clientSecret: OWN.vendor_client_secret };
  const port = Number(new URL(issuer).port);
  const provider = await startOpenIdProvider({ port, clients: [{ ...client, redirectUris: [redirectUri] }] });
  return { ...provider, endpoints, redirectUri };
});
afterAll(() => plantVendorSecrets(vendor));

const explain = (form: Form) => harness.platform.post("/v1/explain", form);
const tokenCalls = () => vendor.requests().filter(({ path }) => path === "/token");

it("bar#XA-4 both endpoints of an unknown vendor connect by a callback path of their own", async () => {
  const { endpoints, redirectUri } = vendor;
  expect(redirectUri).toMatch(new RegExp(`^${harness.baseUrl}/v1/custom/[\\w-]{22}/callback$`));
  const tokens = await harness.platform.connect({ form: { vendor: undefined, scope: SCOPE, ...endpoints, ...OWN } });
  const { answer, flow } = tokens;
  expect(answer.body).toMatchObject({ vendor: "custom", token_type: "Bearer" });
  expect(`${flow.callback.origin}${flow.callback.pathname}`).toBe(redirectUri);
  expectError(await harness.platform.refresh(tokens), 400, "invalid_request");
  expectError(await harness.other.refresh(tokens, OWN), 400, "invalid_request");
  const fresh = await harness.platform.refresh(tokens, OWN);
  expect(fresh.status, fresh.text).toBe(200);
  expect(readTokens(fresh).refreshToken).not.toBe(tokens.refreshToken);
  expect(tokenCalls().map(({ headers }) => headers["authorization"])).toEqual(
    Array(2).fill(basic(OWN.vendor_client_id, OWN.vendor_client_secret)),
  );
  // The request named no revocation endpoint: the broker has no address to revoke at.
  const ended = await harness.platform.revoke(readTokens(fresh).accessToken, tokens, OWN);
  expectError(ended, 400, "unsupported_token_type");
});

it("bar#XA-3 bar#XA-4 an issuer alone connects by its own path, and revokes by metadata", async () => {
  const form = { vendor: undefined, scope: SCOPE, issuer: vendor.issuer, ...OWN };
  // Its endpoints and client are those registered above, and so is the path: an issuer is trusted
  // no further than they are.
  expect((await explain(form)).body).toMatchObject({ tier: 3, redirect_uri: vendor.redirectUri });
  const tokens = await harness.platform.connect({ form });
  expect(tokens.answer.body).toMatchObject({ vendor: "custom", vendor_id_token: expect.any(String) });
  const ended = await harness.platform.revoke(tokens.accessToken, tokens, OWN);
  expect(ended.body).toEqual({ revoked: "token" });
});
