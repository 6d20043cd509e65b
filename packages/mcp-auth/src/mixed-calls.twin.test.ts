/**
 * The twin of mixed-calls.test.ts: with one of these shared between requests, users get each
 * other's data, and the test notices.
 */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { findCrossed, openMixedCalls } from "./testing/mixed-calls.ts";
import * as api from "./mcp/tools/vendor-api.ts";
import * as links from "./hosted/links/link.ts";

function shareVendor(): void {
  weaken(api, ({ createVendorApi }) => {
    let first: ReturnType<typeof createVendorApi> | undefined;
    return { createVendorApi: (...args) => (first ??= createVendorApi(...args)) };
  });
}

/** Every caller that comes during a read shares it, for any user. */
function shareReads(): void {
  weaken(links, ({ freshTokens }) => {
    let reading: ReturnType<typeof freshTokens> | undefined;
    return { freshTokens: (...args) => (reading ??= freshTokens(...args).finally(() => (reading = undefined))) };
  });
}

describe("calls cross (twin of bar#RS-8)", () => {
  it.each([
    ["the vendor as the first caller serves all", shareVendor],
    ["a read under way serves who comes next", shareReads],
  ])("%s", async (_, share) => {
    const mixed = await openMixedCalls(10);
    share();
    const found = findCrossed(await mixed.run(40));
    expect(found).not.toEqual([]);
    expect(found.every(({ answered }) => typeof answered !== "string")).toBe(true);
    await mixed.close();
  });
});
