/**
 * The twins of shared-link.test.ts and narrow-request.test.ts: with one defence off, the attack
 * succeeds.
 */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import * as whole from "../../mcp/admission/whole-token.ts";
import { SCOPES } from "../../testing/hosted-fixture.ts";
import { openSharedLink } from "../../testing/linking/shared-link.ts";
import { openSilentVendorFixture } from "../../testing/vendors/silent-vendor.ts";
import * as narrowing from "../platform-callback/narrow-request.ts";
import * as links from "./link.ts";

it("a narrow session has the broad token in a tool without scopes (twin of bar#RS-3)", async () => {
  weaken(whole, () => ({ requireWholeToken: () => () => undefined }));
  await using fixture = await openSharedLink();
  const broad = await fixture.signIn("read write", "read write");
  const narrow = await fixture.signIn("read", "read");
  expect(await fixture.callTool("unsaid", narrow.access)).toBe(broad.vendorToken);
});

it("a client that requests less takes from the others what they were granted", async () => {
  weaken(links, () => ({ outlasts: () => false }));
  await using fixture = await openSharedLink();
  const broad = await fixture.signIn("read write", "read write");
  const narrow = await fixture.signIn("read", "read");
  expect((await fixture.linked()).token).toBe(narrow.vendorToken);
  expect(await fixture.callTool("write", broad.access)).toMatch(/^403 /);
});

it("a narrower request gets all, without a reported scope (twin of rfc6749#5.1)", async () => {
  weaken(narrowing, () => ({ requestedScope: async () => SCOPES }));
  await using fixture = await openSilentVendorFixture();
  const broad = await fixture.signIn();
  const narrow = await fixture.signIn("openid api:read");
  expect(narrow.scope).toBe(broad.scope);
  expect(narrow.link).not.toEqual(broad.link);
});
