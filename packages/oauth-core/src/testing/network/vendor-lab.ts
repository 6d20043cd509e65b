/**
 * One faulty vendor, one vendor client with the real egress, one clock for both, and a flow that is
 * about to redeem its code.
 */
import { systemTimer } from "../../mechanics/system-timer.ts";
import { createEgress } from "../../egress/index.ts";
import {
  createVendorClient,
  type RedeemRequest,
  type RefreshRequest,
  type VendorClient,
} from "../../vendor-client/index.ts";
import type { ResolvedVendor, Vendor, VendorTokens } from "../../registry/vendor.ts";
import { type FaultyVendor, NONCE, REFRESH_TOKEN, startFaultyVendor } from "./faulty-vendor.ts";
import { fixedClock } from "../fixed-clock.ts";
import { ofEachTest } from "../of-tests.ts";

export interface LabChanges {
  readonly entry?: Partial<Vendor>;
  readonly request?: Partial<RedeemRequest>;
}

export interface Lab {
  readonly vendor: FaultyVendor;
  readonly client: VendorClient;
  readonly clock: ReturnType<typeof fixedClock>;
  readonly request: RedeemRequest;
  readonly resolve: (changes?: Partial<Vendor>) => Promise<ResolvedVendor>;
  readonly redeem: (changes?: LabChanges) => Promise<VendorTokens>;
  readonly refresh: (changes?: {
    readonly entry?: Partial<Vendor>;
    readonly request?: Partial<RefreshRequest>;
  }) => Promise<VendorTokens>;
  readonly close: () => Promise<void>;
}

export const NOW = 1_700_000_000;

interface LabOptions {
  readonly timeoutMs?: number;
  readonly deadline?: () => AbortSignal;
}

export async function openLab({ timeoutMs = 5_000, ...more }: LabOptions = {}): Promise<Lab> {
  const clock = fixedClock(NOW);
  const vendor = await startFaultyVendor(clock);
  const egress = createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs });
  const { fetch } = egress;
  const client = createVendorClient({ fetch, timer: systemTimer, now: clock, allowLoopback: true }, more);
  const request: RedeemRequest = {
    code: "code-of-the-vendor",
    redirectUri: "https://broker.example/v1/callback",
    codeVerifier: "verifier-of-this-flow-which-is-43-chars-or-more",
    nonce: NONCE,
    scope: ["openid"],
  };
  const resolve: Lab["resolve"] = (changes) => client.resolve({ ...vendor.entry, ...changes });
  return {
    vendor,
    client,
    clock,
    request,
    resolve,
    redeem: async (changes = {}) =>
      client.redeemCode(await resolve(changes.entry), vendor.credentials, { ...request, ...changes.request }),
    refresh: async (changes = {}) =>
      client.refreshTokens(await resolve(changes.entry), vendor.credentials, {
        refreshToken: REFRESH_TOKEN,
        ...changes.request,
      }),
    close: async () => {
      await vendor.close();
      await egress.close();
    },
  };
}

/** @returns the lab of the test that runs: each test of the file has its own */
export function labOfEachTest(options: LabOptions = {}): Lab {
  return ofEachTest(() => openLab(options));
}
