/**
 * Runs the legs of a fixture at the vendor's simulator: a simulator is as good as its resemblance
 * to the recording. Used by vendors/fixtures.test.ts.
 */
import { Secret, systemTimer } from "@oauth-broker/oauth-core";
import { createVendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { REGISTRY, type Vendor, type VendorCredentials } from "@oauth-broker/oauth-core/registry";
import { machineClock } from "../clock.ts";
import { driveConsent } from "../drive-consent.ts";
import { startAtlassian } from "../vendors/atlassian.ts";
import type { VendorSimulator } from "../vendors/base/host.ts";
import type { SimulatorOptions } from "../vendors/base/simulator.ts";
import { startGitHub } from "../vendors/github.ts";
import { startGoogleWorkspace } from "../vendors/google.ts";
import { startLinear } from "../vendors/linear.ts";
import { startMicrosoftAgent365 } from "../vendors/microsoft.ts";
import { startNotion } from "../vendors/notion.ts";
import { startSlack } from "../vendors/slack.ts";
import { allowedFor } from "../fixtures/allowed.ts";
import { atEndpoints } from "../fixtures/at-endpoints.ts";
import { differences } from "../fixtures/compare.ts";
import type { Fixture } from "../fixtures/fixture.ts";
import { type Leg, runLegs } from "../fixtures/legs.ts";
import { createRecorder } from "../fixtures/record.ts";

/** A simulator, and the resource that its requests have to name. */
export interface SimulatorSetup {
  readonly simulator: VendorSimulator;
  readonly resource?: string;
}

export type Simulators = Readonly<Record<string, (options?: SimulatorOptions) => Promise<SimulatorSetup>>>;

export const SIMULATORS: Simulators = {
  github: async (options) => ({ simulator: await startGitHub(options) }),
  slack: async (options) => ({ simulator: await startSlack(options) }),
  linear: async (options) => ({ simulator: await startLinear(options) }),
  notion: async (options) => ({ simulator: await startNotion(options) }),
  atlassian: async (options) => {
    const simulator = await startAtlassian(options);
    return { simulator, resource: simulator.mcpServer };
  },
  "google-workspace": async (options) => ({ simulator: await startGoogleWorkspace(options) }),
  "microsoft-agent365": async (options) => ({ simulator: await startMicrosoftAgent365(options) }),
};

/**
 * @returns the differences between simulator and recording, a line each; empty when they agree
 * @throws Error when the vendor has no simulator
 */
export async function replayFixture(fixture: Fixture, simulators: Simulators = SIMULATORS): Promise<string[]> {
  const start = Object.hasOwn(simulators, fixture.vendor) ? simulators[fixture.vendor] : undefined;
  const entry = REGISTRY.get(fixture.vendor);
  if (start === undefined || entry === undefined) {
    throw new Error(`There is no simulator of ${fixture.vendor} that could replay this`);
  }
  const setup = await start();
  try {
    return differences(fixture.legs, await legsAt(setup, entry.vendor, fixture));
  } finally {
    await setup.simulator.close();
  }
}

/** No server listens there: the user's browser stops before it. */
const REDIRECT_URI = "http://127.0.0.1:9/callback";

/** @param vendor its entry, whose endpoints become the simulator's */
export async function legsAt(
  { simulator, resource }: SimulatorSetup,
  vendor: Vendor,
  fixture: Pick<Fixture, "scope" | "app">,
): Promise<Leg[]> {
  const credentials: VendorCredentials = {
    id: "replay",
    source: "shared",
    clientId: "replayed-app",
    clientSecret: new Secret("secret-of-the-replayed-app"),
  };
  simulator.addClient({
    clientId: credentials.clientId,
    clientSecret: "secret-of-the-replayed-app",
    redirectUris: [REDIRECT_URI],
    ...fixture.app,
  });
  const allowed = allowedFor(vendor, fixture.scope);
  const recorder = createRecorder(fetch, allowed);
  const vendorClient = createVendorClient({
    fetch: recorder.fetch,
    timer: systemTimer,
    now: machineClock,
    allowLoopback: true,
  });
  const resolved = await vendorClient.resolve(atEndpoints(vendor, simulator.endpoints));
  return runLegs(
    {
      vendor: resolved,
      credentials,
      redirectUri: REDIRECT_URI,
      scope: fixture.scope,
      ...(resource === undefined ? {} : { resource }),
      browse: async (url) => (await driveConsent(url, { stopAt: ({ port }) => port === "9" })).searchParams,
    },
    { vendorClient, recorder, allowed },
  );
}
