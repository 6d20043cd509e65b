/**
 * Hosted mode with the simulators of the first-class vendors, each with its entry of the registry.
 */
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { driveConsent } from "@oauth-broker/simulators";
import { atEndpoints } from "@oauth-broker/simulators/fixtures";
import {
  startGitHub,
  startGoogleWorkspace,
  startMicrosoftAgent365,
  startSlack,
  type VendorSimulator,
} from "@oauth-broker/simulators/vendors";
import { afterEach, describe, expect, it } from "vitest";
import { CALLBACK, CREDENTIALS, type HostedFixture, openHostedFixture } from "../../testing/hosted-fixture.ts";
import { linkKey } from "../links/link.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const APP = {
  clientId: CREDENTIALS.clientId,
  clientSecret: CREDENTIALS.clientSecret?.reveal() ?? "",
  redirectUris: [CALLBACK],
};

interface Simulated {
  readonly vendor: VendorSimulator;
  readonly fixture: HostedFixture;
}

/** @param client settings of the app at the vendor */
async function open(vendor: VendorSimulator, scopes: readonly string[], client: object = {}): Promise<Simulated> {
  cleanups.push(() => vendor.close());
  vendor.addClient({ ...APP, ...client });
  const entry = REGISTRY.get(vendor.id)?.vendor;
  if (entry === undefined) throw new Error(`no entry ${vendor.id}`);
  const fixture = openHostedFixture({ vendor: atEndpoints(entry, vendor.endpoints), scopes });
  cleanups.push(() => fixture.close());
  return { vendor, fixture };
}

/** Endpoints are per tenant: here that of the user who signs in. */
async function openMicrosoft(): Promise<Simulated> {
  const vendor = await startMicrosoftAgent365();
  const endpoints = { ...vendor.endpointsOf("organizations"), issuer: vendor.endpoints["issuer"] ?? "" };
  return open({ ...vendor, endpoints }, ["openid", "profile", "ea9ffc3e-8a23-4a7d-836d-234d7c7565c1/.default"]);
}

async function connect({ fixture }: Simulated) {
  const start = await fixture.authorize();
  const back = await driveConsent(start.headers.get("location") ?? "", {
    stopAt: (url) => url.href.startsWith(CALLBACK),
  });
  return fixture.token({ code: back.searchParams.get("code") ?? "" });
}

describe("a first-class vendor", () => {
  it.each<[name: string, user: RegExp, start: () => Promise<Simulated>]>([
    [
      "GitHub, the number of the account",
      /^\d+$/,
      async () => open(await startGitHub(), ["read:user"], { expiringTokens: true }),
    ],
    [
      "Slack, team and user",
      /^T\w+:U\w+$/,
      async () => open(await startSlack(), ["users:read"], { tokenRotation: true }),
    ],
    ["Google, the subject", /^\w+$/, async () => open(await startGoogleWorkspace(), ["openid", "email"])],
    ["Microsoft, tenant and object", /^[\da-f-]{36}:[\da-f-]{36}$/, openMicrosoft],
  ])("bar#XA-10 identifies the user: %s; the link renews and ends", async (_name, user, start) => {
    const simulated = await start();
    const { fixture, vendor } = simulated;
    const { status, body } = await connect(simulated);
    expect([status, body["error"]]).toEqual([200, undefined]);
    const caller = await fixture.authenticate(body["access_token"] ?? "");
    expect(caller?.user).toMatch(user);
    expect(caller?.user).not.toContain("@");
    const token = await caller?.vendorToken();
    expect(vendor.isLive(token?.accessToken.reveal() ?? "")).toBe(true);
    const stored = await fixture.tokens.get(linkKey(caller?.user ?? "", fixture));
    if (stored?.tokens.refreshToken !== undefined && token !== undefined) {
      const next = await caller?.refused(token);
      expect(vendor.isLive(next?.accessToken.reveal() ?? "")).toBe(true);
    }
    expect((await fixture.revoke(body["refresh_token"])).status).toBe(200);
    expect(await fixture.authenticate(body["access_token"] ?? "")).toBeUndefined();
    expect(await fixture.tokens.get(linkKey(caller?.user ?? "", fixture))).toBeUndefined();
  });

  it("whose tokens do not expire and cannot be renewed: one 401 there ends the link", async () => {
    const github = await open(await startGitHub(), ["read:user"]);
    const { body } = await connect(github);
    const caller = await github.fixture.authenticate(body["access_token"] ?? "");
    const token = await caller?.vendorToken();
    expect(token === undefined ? token : await caller?.refused(token)).toBeUndefined();
    expect(await github.fixture.authenticate(body["access_token"] ?? "")).toBeUndefined();
    expect((await github.fixture.refresh(body["refresh_token"])).body["error"]).toBe("invalid_grant");
  });
});
