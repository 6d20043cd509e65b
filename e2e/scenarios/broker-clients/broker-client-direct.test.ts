/**
 * A deployment without a broker at vendors of the registry: their dialects come with oauth-core,
 * on either side that runs the flow.
 */
import { direct } from "@oauth-broker/broker-client/direct";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { atEndpoints } from "@oauth-broker/simulators/fixtures";
import {
  startGitHub,
  startGoogleWorkspace,
  startLinear,
  startSlack,
  type VendorSimulator,
} from "@oauth-broker/simulators/vendors";
import { describe, expect, it } from "vitest";
import { REDIRECT_URI } from "../../support/broker/configuration.ts";
import { consent, expectFresh, plantTokens } from "../../support/connect-client/harness.ts";
import { random } from "../../support/broker/platform.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const GMAIL = "https://www.googleapis.com/auth/gmail.readonly";

interface Case {
  start(): Promise<VendorSimulator>;
  readonly scope: string;
  readonly app: object;
  readonly checkedBy: string;
}

const CASES: Readonly<Record<string, Case>> = {
  github: {
    start: startGitHub,
    scope: "read:user repo",
    app: { expiringTokens: true },
    checkedBy: "introspection",
  },
  slack: {
    start: startSlack,
    scope: "users:read search:read.public",
    app: { tokenRotation: true },
    checkedBy: "account",
  },
  "google-workspace": {
    start: startGoogleWorkspace,
    scope: `openid ${GMAIL}`,
    app: {},
    checkedBy: "introspection",
  },
  linear: { start: startLinear, scope: "read", app: {}, checkedBy: "none" },
};

describe.each(Object.keys(CASES))("directly at %s", (id) => {
  const { start, scope, app, checkedBy } = CASES[id]!;
  const credentials = { clientId: "deployment", clientSecret: random("vendor secret") };
  const vendor = shared(start);
  const client = shared(async () => {
    vendor.addClient({ ...credentials, redirectUris: [REDIRECT_URI], name: "The Deployment", ...app });
    const egress = { allowLoopback: true };
    const entry = atEndpoints(REGISTRY.get(id)!.vendor, vendor.endpoints);
    return direct({ vendor: entry, credentials, redirectUri: REDIRECT_URI, egress });
  });

  it("a user connects, the tokens are refreshed, revoked, and end where the user ends them", async () => {
    const { url, session } = await client.start({ vendor: id, scope });
    const tokens = plantTokens(await client.finish(await consent(url), session));
    expect(tokens).toMatchObject({ vendor: id, tokenType: "Bearer" });
    expect(vendor.isLive(tokens.accessToken)).toBe(true);

    const { refreshToken, connection } = tokens;
    const fresh = expectFresh(await client.refresh({ refreshToken, connection }));
    expect(vendor.isLive(fresh.accessToken)).toBe(true);

    const check = async () =>
      client.check({ accessToken: fresh.accessToken, connection, scope: `${scope} another-scope` });
    const isKnown = checkedBy !== "none";
    const missing = isKnown ? { missingScope: "another-scope" } : {};
    expect(await check()).toMatchObject({ active: isKnown ? true : null, checkedBy, ...missing });

    const ended = await client.revoke({ token: fresh.accessToken, connection });
    expect(ended.outcome).toBe("revoked");
    expect(vendor.isLive(fresh.accessToken)).toBe(false);
    expect(await check()).toEqual({ active: isKnown ? false : null, checkedBy });

    vendor.disconnect("user", "deployment");
    const dead = await client.refresh({ refreshToken: fresh.refreshToken, connection });
    expect(dead).toMatchObject({ outcome: "reauthorize" });
  });

  it("a cancel is reported by the broker's error code, whatever the vendor's is", async () => {
    const { url, session } = await client.start({ scope });
    const callback = await consent(url, { decision: "cancel" });
    await expect(client.finish(callback, session)).rejects.toMatchObject({ code: "access_denied" });
  });
});
