/**
 * The caller's own credentials and endpoints, over the wire and against a certified OpenID
 * provider that is not in the broker's configuration: what /v1/explain shows is registered there,
 * then a user connects and the tokens are refreshed and revoked.
 */
import { type OpenIdProvider, startOpenIdProvider } from "@oauth-broker/simulators";
import { expectError, expectPage } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { basic, browse, type Form, random, readTokens } from "../../support/broker/platform.ts";
import { type Harness, startHarness } from "../../support/broker/harness.ts";
import { textMember } from "../../support/text-member.ts";
import { plantVendorSecrets } from "../../support/broker/vendor.ts";

const SCOPE = "openid api:read";
const OWN = { vendor_client_id: "the-platforms-own", vendor_client_secret: random("BYOC secret") };
let harness: Harness;
let vendor: OpenIdProvider;
let endpoints: { readonly authorization_endpoint: string; readonly token_endpoint: string };
let redirectUri: string;

beforeAll(async () => {
  harness = await startHarness();
  const issuer = `http://127.0.0.1:${await freePort()}`;
  endpoints = { authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
  // An administrator's first steps: ask what to register, and register it.
  const { body } = await explain({ ...endpoints, ...OWN });
  redirectUri = textMember(body, "redirect_uri");
  vendor = await startOpenIdProvider({
    port: Number(new URL(issuer).port),
    clients: [
      {
        clientId: OWN.vendor_client_id,
        clientSecret: OWN.vendor_client_secret,
        redirectUris: [redirectUri],
      },
    ],
  });
});
afterAll(async () => {
  plantVendorSecrets(vendor);
  await vendor.close();
  await harness.close();
});

const explain = (form: Form) => harness.platform.post("/v1/explain", form);
const tokenCalls = () => vendor.requests().filter(({ path }) => path === "/token");

describe("both endpoints of an unknown vendor", () => {
  const form = () => ({ vendor: undefined, scope: SCOPE, ...endpoints, ...OWN });

  it("bar#XA-4 connect by a callback path of their own, refresh by connection and secret alone", async () => {
    expect(redirectUri).toMatch(new RegExp(`^${harness.baseUrl}/v1/custom/[\\w-]{22}/callback$`));
    const tokens = await harness.platform.connect({ form: form() });
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
    // The client named no revocation endpoint, so there is none.
    const ended = await harness.platform.revoke(readTokens(fresh).accessToken, tokens, OWN);
    expectError(ended, 400, "unsupported_token_type");
  });

  it("bar#XA-1 refuse the vendor's answer on any other path, and take it on their own afterwards", async () => {
    const at = await harness.platform.toCallback({ form: form() });
    for (const path of ["/v1/callback", `/v1/custom/${"x".repeat(22)}/callback`]) {
      const elsewhere = new URL(`${harness.baseUrl}${path}${at.callback.search}`);
      expectPage(await browse(elsewhere, at.jar), 400, "path_mismatch");
    }
    const before = tokenCalls().length;
    const back = await browse(at.callback, at.jar);
    expect(new URL(back.headers.get("location") ?? "").searchParams.has("code")).toBe(true);
    expect(tokenCalls()).toHaveLength(before);
  });

  it("report whose credentials the vendor refused", async () => {
    const wrong = { ...form(), vendor_client_secret: random("wrong secret") };
    const flow = await harness.platform.toPlatform({ form: wrong });
    const refused = await harness.platform.redeem(flow);
    expectError(refused, 400, "vendor_credentials_rejected");
    expect(refused.body).toMatchObject({ credentials_source: "byoc", flow_id: flow.flowId });
  });

  it("take {placeholders}, and keep what filled them", async () => {
    const path = { authorization_endpoint: endpoints.authorization_endpoint.replace("/auth", "/{way}") };
    const filled = { ...form(), ...path, placeholders: '{"way":"auth"}' };
    expect((await explain(filled)).body).toMatchObject({ redirect_uri: redirectUri, placeholders: { way: "auth" } });
    const { answer, connection } = await harness.platform.connect({ form: filled });
    expect(answer.body["vendor"]).toBe("custom");
    expect((await explain({ connection })).body).toMatchObject({ tier: 3, endpoints, placeholders: { way: "auth" } });
  });
});

describe("an issuer alone that sends iss in every answer", () => {
  it("bar#XA-3 bar#XA-4 connects by its own path with an ID token, and revokes by metadata", async () => {
    const form = { vendor: undefined, scope: SCOPE, issuer: vendor.issuer, ...OWN };
    // Its endpoints and client are those registered above, and so is the path: an issuer is trusted
    // no further than they are.
    expect((await explain(form)).body).toMatchObject({ tier: 3, redirect_uri: redirectUri });
    const tokens = await harness.platform.connect({ form });
    expect(tokens.answer.body).toMatchObject({ vendor: "custom", vendor_id_token: expect.any(String) });
    const ended = await harness.platform.revoke(tokens.accessToken, tokens, OWN);
    expect(ended.body).toEqual({ revoked: "token" });
  });
});
