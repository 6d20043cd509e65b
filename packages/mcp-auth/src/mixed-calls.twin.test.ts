/**
 * The twin of mixed-calls.test.ts: with one of these shared between requests, users get each
 * other's data, and the test notices.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { findCrossed, openMixedCalls } from "./testing/mixed-calls.ts";
import type { createVendorApi } from "./mcp/tools/vendor-api.ts";
import type { freshTokens } from "./hosted/links/link.ts";

const shared = vi.hoisted(() => ({ what: "" }));

vi.mock("./mcp/tools/vendor-api.ts", async (original) => {
  const real: { readonly createVendorApi: typeof createVendorApi } = await original();
  let first: ReturnType<typeof createVendorApi> | undefined;
  return {
    ...real,
    createVendorApi: (...args: Parameters<typeof createVendorApi>) => {
      if (shared.what !== "vendor") return real.createVendorApi(...args);
      return (first ??= real.createVendorApi(...args));
    },
  };
});
vi.mock("./hosted/links/link.ts", async (original) => {
  const real: { readonly freshTokens: typeof freshTokens } = await original();
  let reading: ReturnType<typeof freshTokens> | undefined;
  return {
    ...real,
    freshTokens: (...args: Parameters<typeof freshTokens>) => {
      if (shared.what !== "read") return real.freshTokens(...args);
      // Every caller that comes during a read shares it, for any user.
      return (reading ??= real.freshTokens(...args).finally(() => (reading = undefined)));
    },
  };
});

afterEach(() => {
  shared.what = "";
});

describe("calls cross (twin of bar#RS-8)", () => {
  it.each([
    ["vendor", "the vendor as the first caller serves all"],
    ["read", "a read under way serves who comes next"],
  ])("where %s is shared: %s", async (what) => {
    const mixed = await openMixedCalls(10);
    shared.what = what;
    const found = findCrossed(await mixed.run(40));
    expect(found).not.toEqual([]);
    expect(found.every(({ answered }) => typeof answered !== "string")).toBe(true);
    await mixed.close();
  });
});
