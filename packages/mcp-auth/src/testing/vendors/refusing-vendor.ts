/** A server in pre-registered mode with a vendor that refuses every token, and counts its calls. */
import { createLog } from "@oauth-broker/service";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { startScriptedVendor } from "@oauth-broker/simulators";
import { createApp } from "../../app.ts";
import { loadSettings } from "../../config.ts";
import { type Closing, closing } from "../closing.ts";
import { NO_URLS } from "../environments.ts";

export interface RefusingVendor extends Closing {
  /** How often the vendor was called. */
  asked(): number;
  /** @returns the status of the response of `/mcp` */
  present(bearer: string): Promise<number>;
}

export async function openRefusingVendor(): Promise<RefusingVendor> {
  const vendor = await startScriptedVendor({ "*": { status: 401 } });
  const settings = loadSettings({
    ...NO_URLS,
    OAUTH_MODE: "pre-registered",
    VENDOR: "refusing",
    VENDOR_AUTHORIZATION_URL: `${vendor.url}/authorize`,
    VENDOR_TOKEN_URL: `${vendor.url}/token`,
    VENDOR_USERINFO_URL: `${vendor.url}/userinfo`,
    EGRESS_ALLOW_LOOPBACK: "true",
  });
  const log = createLog({ write: () => undefined });
  const definition = { name: "test", version: "1.0.0", tools: [] };
  const server = createApp(definition, settings, { now: fixedClock(1_700_000_000), log, storage: undefined });
  const opened: Omit<RefusingVendor, keyof Closing> = {
    asked: () => vendor.received.length,
    present: async (bearer) => {
      const headers = { host: "localhost", authorization: `Bearer ${bearer}` };
      return (await server.app.request("http://localhost/mcp", { method: "POST", headers })).status;
    },
  };
  return closing(opened, async () => {
    await server.close();
    await vendor.close();
  });
}
