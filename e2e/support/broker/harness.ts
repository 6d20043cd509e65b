/**
 * A whole harness in this process: vendor, broker and two platforms, on a clock that the test
 * moves.
 */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import type { OpenIdProviderOptions } from "@oauth-broker/simulators";
import {
  brokerYaml,
  type ConfigurationParts,
  createSecrets,
  OTHER_REDIRECT_URI,
  type Secrets,
} from "./configuration.ts";
import { freePort } from "../free-port.ts";
import { startInProcessBroker } from "./in-process.ts";
import { createPlatform } from "./platform.ts";
import { plantVendorSecrets, startVendor } from "./vendor.ts";

type Extra = Partial<Omit<ConfigurationParts, "baseUrl" | "secrets" | "issuer">>;

/** What stands around a broker that a test starts itself: the vendor, a platform, and its broker.yaml. */
export async function startParties(vendorOptions: Partial<OpenIdProviderOptions> = {}) {
  const secrets = createSecrets();
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const vendor = await startVendor({ baseUrl, secrets }, vendorOptions);
  return {
    baseUrl,
    secrets,
    vendor,
    platform: createPlatform({ baseUrl, clientSecret: secrets.platform }),
    yaml: (extra: Extra = {}) => brokerYaml({ baseUrl, secrets, issuer: vendor.issuer, ...extra }),
    close: () => vendor.close(),
  };
}

export type Harness = Awaited<ReturnType<typeof startHarness>>;
/** @param extra further configuration in addition to two clients and the vendor `op` */
export async function startHarness(
  extra: Extra | ((issuer: string, secrets: Secrets) => Extra | Promise<Extra>) = {},
  vendorOptions: Partial<OpenIdProviderOptions> = {},
) {
  const parties = await startParties(vendorOptions);
  const { baseUrl, secrets, vendor } = parties;
  const parts = typeof extra === "function" ? await extra(vendor.issuer, secrets) : extra;
  // The vendor uses real time and signs it into ID tokens: the broker starts there, and advances
  // only on command.
  const now = fixedClock(Math.floor(Date.now() / 1000));
  const broker = await startInProcessBroker(parties.yaml(parts), { now });
  return {
    ...parties,
    broker,
    now,
    /** Another client of the same broker. */
    other: createPlatform({ baseUrl, clientId: "other", clientSecret: secrets.other, redirectUri: OTHER_REDIRECT_URI }),
    /** Requests that the vendor received at one path. */
    vendorCalls: (path: string) => vendor.requests().filter((request) => request.path === path).length,
    close: async () => {
      plantVendorSecrets(vendor);
      await broker.close();
      await vendor.close();
    },
  };
}
