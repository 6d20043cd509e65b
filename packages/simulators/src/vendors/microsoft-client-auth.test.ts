import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MicrosoftSimulator } from "./microsoft.ts";
import type { MicrosoftTenant } from "./microsoft-settings.ts";
import { MICROSOFT_CLIENT, startMicrosoftHarness, type MicrosoftHarness } from "./testing/microsoft-harness.ts";
import { basic, CALLBACK } from "./testing/http.ts";

let harness: MicrosoftHarness;
let microsoft: MicrosoftSimulator;
let ready: MicrosoftTenant;
beforeEach(async () => {
  harness = await startMicrosoftHarness();
  ({ microsoft } = harness);
  [ready] = microsoft.settings.tenants as [MicrosoftTenant];
});
afterEach(() => microsoft.close());

describe("client authentication", () => {
  it("takes Basic, and an assertion by a certificate's key", async () => {
    const { client_id: clientId, client_secret: clientSecret } = MICROSOFT_CLIENT;
    const { privateKey, publicKey } = await generateKeyPair("PS256");
    const certificates = [{ ...(await exportJWK(publicKey)), "x5t#S256": "thumbprint" }];
    microsoft.addClient({ clientId, clientSecret, redirectUris: [CALLBACK], certificates });
    const { refresh_token: refreshToken } = await harness.connect();
    const form = { grant_type: "refresh_token", refresh_token: String(refreshToken) };
    expect((await harness.at(ready.id).token(form, basic(clientId, clientSecret))).status).toBe(200);

    const endpoint = microsoft.endpointsOf(ready.id)["token_endpoint"]!;
    const assert = async (claims: object, { key = privateKey, thumbprint = "thumbprint" } = {}) => {
      const now = harness.now();
      const all = { iss: clientId, sub: clientId, aud: endpoint, jti: "j1", iat: now, exp: now + 60, ...claims };
      const header = { alg: "PS256", "x5t#S256": thumbprint };
      const assertion = await new SignJWT(all).setProtectedHeader(header).sign(key);
      return harness.at(ready.id).token({
        ...form,
        client_id: clientId,
        client_assertion: assertion,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      });
    };
    expect((await assert({})).status).toBe(200);
    expect((await assert({ exp: harness.now() - 1 })).body).toMatchObject({ error_codes: [700024] });
    expect((await assert({ aud: `${microsoft.url}/token` })).body).toMatchObject({ error_codes: [700023] });
    expect((await assert({ sub: "another" })).body).toMatchObject({ error_codes: [700027] });
    expect((await assert({}, { thumbprint: "another" })).body).toMatchObject({ error_codes: [700027] });
    const stranger = await generateKeyPair("PS256");
    expect(await assert({}, { key: stranger.privateKey })).toMatchObject({
      status: 401,
      body: { error: "invalid_client", error_codes: [700027] },
    });
  });

  it("tells a wrong secret from an expired one", async () => {
    const { client_id: clientId, client_secret: clientSecret } = MICROSOFT_CLIENT;
    const { refresh_token: refreshToken } = await harness.connect();
    const refresh = (secret: string) => harness.refresh(refreshToken, { client_secret: secret });
    expect(await refresh("wrong")).toMatchObject({
      status: 401,
      body: { error: "invalid_client", error_codes: [7000215] },
    });
    expect(await refresh("")).toMatchObject({ status: 401, body: { error: "invalid_client", error_codes: [7000218] } });
    const redirectUris = [CALLBACK];
    microsoft.addClient({
      clientId,
      clientSecret,
      redirectUris,
      secretExpiresAt: harness.now() + 10,
    });
    expect((await refresh(clientSecret)).status).toBe(200);
    harness.now.advance(10);
    expect(await refresh(clientSecret)).toMatchObject({
      status: 401,
      body: { error: "invalid_client", error_codes: [7000222], error_description: expect.stringContaining("expired") },
    });
  });
});
