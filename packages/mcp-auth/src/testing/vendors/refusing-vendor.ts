/** A server in pre-registered mode with a vendor that refuses every token, and how often it was called. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { startScriptedVendor } from "@oauth-broker/simulators";
import { type Closing, closing } from "../closing.ts";
import { NO_URLS } from "../environments.ts";
import { openTestApp } from "../test-app.ts";

export interface RefusingVendor extends Closing {
  /** How often the vendor was called. */
  asked(): number;
  /** @returns the status of the response of `/mcp` */
  present(bearer: string): Promise<number>;
}

export async function openRefusingVendor(): Promise<RefusingVendor> {
  const vendor = await startScriptedVendor({ "*": { status: 401 } });
  const environment = {
    ...NO_URLS,
    OAUTH_MODE: "pre-registered",
    VENDOR: "refusing",
    VENDOR_AUTHORIZATION_URL: `${vendor.url}/authorize`,
    VENDOR_TOKEN_URL: `${vendor.url}/token`,
    VENDOR_USERINFO_URL: `${vendor.url}/userinfo`,
    EGRESS_ALLOW_LOOPBACK: "true",
  };
  const { ask, close } = await openTestApp(environment, { now: fixedClock(1_700_000_000) });
  const opened: Omit<RefusingVendor, keyof Closing> = {
    asked: () => vendor.received.length,
    present: async (bearer) =>
      (await ask("/mcp", { method: "POST", headers: { authorization: `Bearer ${bearer}` } })).status,
  };
  return closing(opened, async () => {
    await close();
    await vendor.close();
  });
}
