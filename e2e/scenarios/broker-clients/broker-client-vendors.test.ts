/**
 * A backend on @oauth-broker/broker-client at three vendors with three dialects, through the
 * broker.
 */
import { type BrokerClient, createBrokerClient } from "@oauth-broker/broker-client";
import { startGitHub, startGoogleWorkspace, startSlack, type VendorSimulator } from "@oauth-broker/simulators/vendors";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { REDIRECT_URI } from "../../support/broker/configuration.ts";
import { consent, plantTokens } from "../../support/connect-client/harness.ts";
import { startVendorHarness, type VendorHarness } from "../../support/vendors/harness.ts";

const GMAIL = "https://www.googleapis.com/auth/gmail.readonly";

interface Case {
  readonly start: () => Promise<VendorHarness<VendorSimulator>>;
  readonly scope: string;
  readonly rotates: boolean;
  readonly hasIdTokens: boolean;
}

const CASES: Readonly<Record<string, Case>> = {
  github: {
    start: async () =>
      startVendorHarness({ vendor: await startGitHub(), scope: "read:user repo", client: { expiringTokens: true } }),
    scope: "read:user repo",
    rotates: true,
    hasIdTokens: false,
  },
  slack: {
    start: async () =>
      startVendorHarness({
        vendor: await startSlack(),
        scope: "users:read search:read.public",
        client: { tokenRotation: true },
      }),
    scope: "users:read search:read.public",
    rotates: true,
    hasIdTokens: false,
  },
  "google-workspace": {
    start: async () => startVendorHarness({ vendor: await startGoogleWorkspace(), scope: `openid ${GMAIL}` }),
    scope: `openid ${GMAIL}`,
    rotates: false,
    hasIdTokens: true,
  },
};

describe.each(Object.keys(CASES))("at %s", (vendor) => {
  const { start, scope, rotates, hasIdTokens } = CASES[vendor]!;
  let harness: VendorHarness<VendorSimulator>;
  let client: BrokerClient;

  beforeAll(async () => {
    harness = await start();
    const { baseUrl: issuer, clientSecret } = harness;
    client = createBrokerClient({ issuer, clientId: "platform", clientSecret, redirectUri: REDIRECT_URI });
  });
  afterAll(() => harness.close());

  it("a user connects, the tokens are refreshed and revoked, and then only the user can mend it", async () => {
    const { url, session } = await client.start({ vendor, scope });
    const tokens = plantTokens(await client.finish(await consent(url), session));
    expect(tokens).toMatchObject({ vendor, tokenType: "Bearer" });
    expect(tokens.scope?.split(" ").toSorted()).toEqual(scope.split(" ").toSorted());
    expect(harness.vendor.isLive(tokens.accessToken)).toBe(true);
    expect(tokens.expiresAt).toBeGreaterThan(session.expiresAt);
    expect(tokens.vendorIdToken !== undefined && decodeJwt(tokens.vendorIdToken).sub !== undefined).toBe(hasIdTokens);

    const { refreshToken = "", connection } = tokens;
    const refreshed = await client.refresh({ refreshToken, connection });
    if (refreshed.outcome !== "ok") throw new Error(refreshed.outcome);
    const fresh = plantTokens(refreshed.tokens);
    expect(harness.vendor.isLive(fresh.accessToken)).toBe(true);
    expect(fresh.refreshToken !== refreshToken).toBe(rotates);

    const revoked = await client.revoke({ token: fresh.accessToken, connection: fresh.connection });
    expect(revoked).toMatchObject({ outcome: "revoked" });
    expect(harness.vendor.isLive(fresh.accessToken)).toBe(false);

    harness.vendor.disconnect("user", harness.client.clientId);
    // Within a minute an equal refresh gets the answer of the first, so the vendor is called again
    // only for another token.
    if (!rotates) return;
    const again = await client.refresh({ refreshToken: fresh.refreshToken ?? "", connection: fresh.connection });
    expect(again).toMatchObject({ outcome: "reauthorize" });
  });

  it("a cancel is reported, and the flow can be found by its id", async () => {
    const { url, session } = await client.start({ vendor, scope });
    const callback = await consent(url, { decision: "cancel" });
    await expect(client.finish(callback, session)).rejects.toMatchObject({
      code: "access_denied",
      details: { flowId: expect.stringMatching(/^[\w-]{22}$/) },
    });
  });

  it("explain says which redirect URI to register there, and shows no secret", async () => {
    const explained = await client.explain({ vendor, byoc: { clientId: "own", clientSecret: "a-secret-of-ours" } });
    expect(explained).toMatchObject({
      vendor,
      redirect_uri: `${harness.baseUrl}/v1/callback`,
      credentials: { source: "byoc", vendor_client_id: "own", client_secret: "[secret]" },
    });
    expect(JSON.stringify(explained)).not.toContain("a-secret-of-ours");
  });
});
