/**
 * A deployment inside a private network: no broker can reach it, the user's browser can, and the
 * vendor's token endpoint serves https inside that network. The network here is inside the loopback
 * range; nothing else is permitted, and no plain http.
 */
import { defined } from "@oauth-broker/oauth-core";
import { createTestAuthority, startTlsFront } from "@oauth-broker/oauth-core/testing";
import { driveConsent, startOpenIdProvider } from "@oauth-broker/simulators";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defineVendor, direct, type DirectClient, type DirectOptions } from "./index.ts";

const REDIRECT_URI = "https://platform.internal/oauth/callback";
const credentials = { clientId: "deployment", clientSecret: "a-secret-of-the-deployment" };
const authority = createTestAuthority();
const closers: (() => Promise<void>)[] = [];
let vendor: DirectOptions["vendor"];

beforeAll(async () => {
  const provider = await startOpenIdProvider({ clients: [{ ...credentials, redirectUris: [REDIRECT_URI] }] });
  const { url, close } = await startTlsFront(provider.port, authority);
  closers.push(close, provider.close);
  vendor = defineVendor({
    id: "internal",
    name: "Internal",
    authorizationEndpoint: `${provider.issuer}/auth`,
    tokenEndpoint: `${url}/token`,
    revocationEndpoint: `${url}/token/revocation`,
    defaultScopes: ["api:read"],
  });
});
afterAll(async () => {
  for (const close of closers) await close();
});

function deployment(egress: DirectOptions["egress"]): DirectClient {
  const client = direct({ vendor, credentials, redirectUri: REDIRECT_URI, ...defined({ egress }) });
  closers.unshift(client.close);
  return client;
}

async function connect(client: DirectClient) {
  const { url, session } = await client.start({});
  const callback = await driveConsent(url, { stopAt: (at) => at.href.startsWith(REDIRECT_URI) });
  return client.finish(callback, session);
}

describe("a direct client in a private network", () => {
  it("connects, refreshes and revokes where the operator permits that network and its authority", async () => {
    const client = deployment({ allowCidrs: ["127.0.0.0/24"], caPem: authority.caPem });
    const { refreshToken = "", connection, scope } = await connect(client);
    expect(scope).toBe("api:read");
    const refreshed = await client.refresh({ refreshToken, connection });
    if (refreshed.outcome !== "ok") throw new Error(refreshed.outcome);
    const { accessToken: token } = refreshed.tokens;
    expect(await client.revoke({ token, connection })).toEqual({ outcome: "revoked", revoked: "token" });
  });

  it.each<[string, DirectOptions["egress"]]>([
    ["by default", undefined],
    ["with another network permitted", { allowCidrs: ["127.1.0.0/16"], caPem: authority.caPem }],
  ])("is not made %s: the vendor's address is refused before any user starts", (_what, egress) => {
    const refusal = expect.objectContaining({
      code: "invalid_request",
      description: expect.stringContaining("allowed by egress"),
      extras: { reason: "endpoint_forbidden" },
    });
    expect(() => deployment(egress)).toThrow(refusal);
    const inside = { issuer: "https://10.0.0.1" };
    expect(() => direct({ vendor: inside, credentials, redirectUri: REDIRECT_URI })).toThrow(refusal);
  });

  it("reaches nothing there without the authority of its certificate, and the code is not spent", async () => {
    const client = deployment({ allowCidrs: ["127.0.0.0/24"] });
    const refusal: unknown = await connect(client).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "temporarily_unavailable" });
    expect(refusal).not.toHaveProperty("details.retry");
  });
});
