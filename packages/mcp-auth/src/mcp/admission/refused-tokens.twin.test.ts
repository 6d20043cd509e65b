/**
 * The twins of refused-tokens.test.ts and of ../../pre-registered/authenticate.test.ts: with one defence off,
 * the attack succeeds.
 */
import type * as Core from "@oauth-broker/oauth-core";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import type * as Service from "@oauth-broker/service/http";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

beforeEach(() => {
  vi.resetModules();
});
afterEach(() => {
  vi.doUnmock("@oauth-broker/service/http");
  vi.doUnmock("@oauth-broker/oauth-core");
});

describe("with a defence off", () => {
  it("every token that is tried out is a call at the vendor (twin of bar#ST-8)", async () => {
    vi.doMock("@oauth-broker/service/http", async (original) => {
      const actual = await original<typeof Service>();
      const createRateLimit: typeof actual.createRateLimit = (_, now) => actual.createRateLimit(0, now);
      return { ...actual, createRateLimit };
    });
    const { createApp } = await import("../../app.ts");
    const { openRefusingVendor } = await import("../../testing/vendors/refusing-vendor.ts");
    const { present, asked, close } = await openRefusingVendor(createApp);
    for (let index = 0; index < 150; index += 1) expect(await present(`junk-${index}`)).toBe(401);
    expect(asked()).toBe(150);
    await close();
  });

  it("tokens that are tried out evict the result of a valid one, where both are in one map", async () => {
    vi.doMock("@oauth-broker/oauth-core", async (original) => {
      const actual = await original<typeof Core>();
      const one = actual.createExpiringMap<never>(10_000, fixedClock(1_700_000_000));
      return { ...actual, createExpiringMap: () => one };
    });
    const { createAuthenticate } = await import("../../pre-registered/authenticate.ts");
    const asked: string[] = [];
    const authenticate = createAuthenticate({
      settings: { credentials: undefined },
      vendor: async () => ({ id: "example" }) as ResolvedVendor,
      vendorClient: {
        validateAccessToken: async (_, token) => {
          asked.push(token);
          return token === "good" ? { active: true, user: "u1" } : { active: false, reason: "refused" };
        },
      },
      now: fixedClock(1_700_000_000),
    });
    await authenticate("good");
    for (let index = 0; index < 10_000; index += 1) await authenticate(`junk-${index}`);
    await authenticate("good");
    expect(asked.filter((token) => token === "good")).toHaveLength(2);
  });
});
