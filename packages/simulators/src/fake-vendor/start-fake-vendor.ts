/**
 * A fake vendor on loopback. Also a program: `node start-fake-vendor.ts named|any [PORT]` prints one JSON line
 * with `url` and serves until it is ended.
 */
import { startScriptedVendor } from "../scripted-vendor.ts";
import { type AcceptedCodes, createFakeVendor, type FakeVendor, type FakeVendorOptions } from "./fake-vendor.ts";

export type FakeVendorServer = Awaited<ReturnType<typeof startFakeVendor>>;

/** @param options.port default 0: a free one */
export async function startFakeVendor({
  port = 0,
  ...options
}: Omit<FakeVendorOptions, "origin"> & { readonly port?: number }) {
  const script = { "*": (...[request]: Parameters<FakeVendor["answer"]>) => vendor.answer(request) };
  const { url, close } = await startScriptedVendor(script, { port, keepsRequests: false });
  const vendor = createFakeVendor({ keepsRequests: false, ...options, origin: url });
  return {
    ...vendor,
    url,
    authorizationEndpoint: `${url}/authorize`,
    tokenEndpoint: `${url}/token`,
    revocationEndpoint: `${url}/revoke`,
    close,
  };
}

/** The environment of a deployed server with this vendor. */
export function fakeVendorEnvironment(url: string): Readonly<Record<string, string>> {
  return {
    VENDOR: "fake",
    VENDOR_AUTHORIZATION_URL: `${url}/authorize`,
    VENDOR_TOKEN_URL: `${url}/token`,
    VENDOR_USERINFO_URL: `${url}/account`,
    VENDOR_CLIENT_ID: "our-client",
    VENDOR_CLIENT_SECRET: "our-secret-at-the-vendor",
    EGRESS_ALLOW_LOOPBACK: "true",
  };
}

// The name is checked too: in a bundle of one file every module is the main one.
if (import.meta.main && import.meta.filename.endsWith("start-fake-vendor.ts")) {
  const [, , codes = "any", port = "0"] = process.argv;
  const { url } = await startFakeVendor({ codes: codes as AcceptedCodes, port: Number(port) });
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}
