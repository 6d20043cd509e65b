/**
 * A whole harness in this process: vendor, broker and two platforms, on a clock that the test
 * moves.
 */
import type { Clock } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import type { OpenIdProvider, OpenIdProviderOptions } from "@oauth-broker/simulators";
import {
  brokerYaml,
  type ConfigurationParts,
  createSecrets,
  OTHER_REDIRECT_URI,
  type Secrets,
} from "./configuration.ts";
import { freePort } from "../free-port.ts";
import { type InProcessBroker, startInProcessBroker } from "./in-process.ts";
import { createPlatform, type Platform } from "./platform.ts";
import { plantVendorSecrets, startVendor } from "./vendor.ts";

export interface Harness {
  readonly baseUrl: string;
  readonly secrets: Secrets;
  readonly vendor: OpenIdProvider;
  readonly broker: InProcessBroker;
  readonly platform: Platform;
  /** Another client of the same broker. */
  readonly other: Platform;
  readonly now: Clock & { advance(seconds: number): void };
  /** Requests that the vendor received at one path. */
  vendorCalls(path: string): number;
  close(): Promise<void>;
}

type Extra = Partial<Omit<ConfigurationParts, "baseUrl" | "secrets" | "issuer">>;

/** @param extra further configuration in addition to two clients and the vendor `op` */
export async function startHarness(
  extra: Extra | ((issuer: string, secrets: Secrets) => Extra | Promise<Extra>) = {},
  vendorOptions: Partial<OpenIdProviderOptions> = {},
): Promise<Harness> {
  const secrets = createSecrets();
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const vendor = await startVendor({ baseUrl, secrets }, vendorOptions);
  const { issuer } = vendor;
  const parts = typeof extra === "function" ? await extra(issuer, secrets) : extra;
  // The vendor uses real time and signs it into ID tokens: the broker starts there, and advances
  // only on command.
  const now = fixedClock(Math.floor(Date.now() / 1000));
  const broker = await startInProcessBroker(brokerYaml({ baseUrl, secrets, issuer, ...parts }), { now });
  return {
    baseUrl,
    secrets,
    vendor,
    broker,
    now,
    platform: createPlatform({ baseUrl, clientSecret: secrets.platform }),
    other: createPlatform({
      baseUrl,
      clientId: "other",
      clientSecret: secrets.other,
      redirectUri: OTHER_REDIRECT_URI,
    }),
    vendorCalls: (path) => vendor.requests().filter((request) => request.path === path).length,
    close: async () => {
      plantVendorSecrets(vendor);
      await broker.close();
      await vendor.close();
    },
  };
}
