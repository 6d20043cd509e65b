/**
 * The twins of shared-link.test.ts and narrow-request.test.ts: with one defence off, the attack
 * succeeds.
 */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SCOPES } from "../../testing/hosted-fixture.ts";

const WHOLE = "../../mcp/admission/whole-token.ts";
const LINK = "./link.ts";
const NARROW = "../platform-callback/narrow-request.ts";

beforeEach(() => vi.resetModules());
afterEach(() => {
  vi.doUnmock(WHOLE);
  vi.doUnmock(LINK);
  vi.doUnmock(NARROW);
});

it("a narrow session has the broad token in a tool without scopes (twin of bar#RS-3)", async () => {
  vi.doMock(WHOLE, async (original) => ({
    ...(await original<object>()),
    requireWholeToken: () => () => undefined,
  }));
  const { openSharedLink } = await import("../../testing/linking/shared-link.ts");
  await using fixture = await openSharedLink();
  const broad = await fixture.signIn("read write", "read write");
  const narrow = await fixture.signIn("read", "read");
  expect(await fixture.callTool("unsaid", narrow.access)).toBe(broad.vendorToken);
});

it("a client that requests less takes from the others what they were granted", async () => {
  vi.doMock(LINK, async (original) => ({ ...(await original<object>()), outlasts: () => false }));
  const { openSharedLink } = await import("../../testing/linking/shared-link.ts");
  await using fixture = await openSharedLink();
  const broad = await fixture.signIn("read write", "read write");
  const narrow = await fixture.signIn("read", "read");
  expect((await fixture.linked()).token).toBe(narrow.vendorToken);
  expect(await fixture.callTool("write", broad.access)).toMatch(/^403 /);
});

it("a narrower request gets all, without a reported scope (twin of rfc6749#5.1)", async () => {
  vi.doMock(NARROW, async (original) => ({ ...(await original<object>()), requestedScope: async () => SCOPES }));
  const { openSilentVendorFixture } = await import("../../testing/vendors/silent-vendor.ts");
  await using fixture = await openSilentVendorFixture();
  const broad = await fixture.signIn();
  const narrow = await fixture.signIn("openid api:read");
  expect(narrow.scope).toBe(broad.scope);
  expect(await fixture.linked(narrow.access)).not.toEqual(broad.link);
});
