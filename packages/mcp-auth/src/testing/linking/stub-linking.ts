/**
 * Several vendors, of which only the one that signs users in exists: a fake vendor, which grants
 * `read` and `write` for any request. For what happens before a link is needed.
 */
import { type Clock, defined, type RecordStore } from "@oauth-broker/oauth-core";
import { defineVendor } from "@oauth-broker/oauth-core/registry";
import { startFakeVendor, type FakeVendorServer } from "@oauth-broker/simulators";
import type { HostedSettings, LinkingSettings } from "../../settings.ts";
import { closing } from "../closing.ts";
import { CREDENTIALS } from "../hosted-fixture.ts";
import { linkingSettings } from "../hosted-settings.ts";
import { openServerFixture, type ServerFixture } from "../server-fixture.ts";
import { severalVendors } from "../../hosted/link-policy/link-policy.ts";

export interface StubLinkingFixture extends ServerFixture {
  readonly stub: FakeVendorServer;
  /** The same vendor alone, or with the others, over the same table. */
  again(linking: "VENDOR" | "VENDORS"): ServerFixture;
}

/** At the sign-in vendor, `main`. */
export const MAIN_SCOPES: readonly string[] = ["read", "write"];
/** All that a session can have. `chat` has a scope that reads like one of `main`. */
export const ALL_SCOPES: readonly string[] = ["main:read", "main:write", "chat:post", "chat:main:read"];

/** @param options.linking changes to the settings of links */
export async function openStubLinkingFixture(
  options: {
    readonly linking?: Partial<LinkingSettings>;
    readonly settings?: Partial<HostedSettings>;
    /** Default MAIN_SCOPES. */
    readonly mainScopes?: readonly string[];
    /** Begins with `VENDOR`. */
    readonly alone?: boolean;
    readonly records?: (now: Clock) => RecordStore;
  } = {},
): Promise<StubLinkingFixture> {
  const { mainScopes = MAIN_SCOPES } = options;
  const stub = await startFakeVendor({ codes: "any" });
  const { authorizationEndpoint, tokenEndpoint, revocationEndpoint } = stub;
  const ofStub = { id: "main", name: "Main Vendor", authorizationEndpoint, tokenEndpoint, revocationEndpoint };
  const main = { vendor: defineVendor(ofStub), credentials: CREDENTIALS, scopes: mainScopes, apiHosts: [] };
  const other = (id: string, name: string, scopes: readonly string[]): readonly [string, typeof main] => {
    const endpoints = { authorizationEndpoint: `https://${id}.example/a`, tokenEndpoint: `https://${id}.example/t` };
    return [id, { ...main, vendor: defineVendor({ id, name, ...endpoints, revocationEndpoint }), scopes }];
  };
  const vendors = new Map([
    ["main", main],
    other("chat", "Chat Vendor", ["post", "main:read"]),
    other("wiki", "Wiki", []),
  ]);
  const links = severalVendors(linkingSettings({ vendors, signIn: "main", ...options.linking }));
  const open = (kind: "VENDOR" | "VENDORS", records = options.records): ServerFixture =>
    openServerFixture({
      vendor: main.vendor,
      scopes: mainScopes,
      vendorClient: (real) => ({ ...real, identify: async () => "user" }),
      ...defined({ records }),
      settings: { ...(kind === "VENDOR" ? {} : { vendor: main, links }), ...options.settings },
    });
  const fixture = open(options.alone === true ? "VENDOR" : "VENDORS");
  const again: StubLinkingFixture["again"] = (kind) => open(kind, () => fixture.table);
  return closing({ ...fixture, stub, again }, async () => {
    await fixture.close();
    await stub.close();
  });
}
