/**
 * Many sessions of a user, one link: a session does not get through the others what it was not
 * granted. Twins: shared-link.twin.test.ts.
 */
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { openSharedLink } from "../../testing/linking/shared-link.ts";
import { linkKey } from "./link.ts";

const fixture = ofEachTest(openSharedLink);

const INSUFFICIENT = expect.stringMatching(/^403 Bearer error="insufficient_scope".*scope="read write"/);

describe("a session that was granted less than the link has", () => {
  it("bar#RS-3 runs no tool that does not name its scopes, and may ask for all", async () => {
    const broad = await fixture.signIn("read write", "read write");
    const narrow = await fixture.signIn("read", "read");
    expect(await fixture.callTool("unsaid", broad.access)).toBe(broad.vendorToken);
    expect(await fixture.callTool("unsaid", narrow.access)).toEqual(INSUFFICIENT);
    const again = await fixture.signIn("read write", "read write");
    expect(await fixture.callTool("unsaid", again.access)).toBe(again.vendorToken);
  });

  it("bar#RS-3 runs tools that name scopes it has, or that they need none", async () => {
    const broad = await fixture.signIn("read write", "read write");
    const narrow = await fixture.signIn("read", "read");
    for (const name of ["read", "none"]) expect(await fixture.callTool(name, narrow.access)).toBe(broad.vendorToken);
    expect(await fixture.callTool("write", narrow.access)).toMatch(/^403 .*scope="write"/);
    expect(await fixture.callTool("write", broad.access)).toBe(broad.vendorToken);
  });

  it("bar#RS-3 is also one whose access token was asked for with less", async () => {
    const broad = await fixture.signIn("read write", "read write");
    const { body } = await fixture.refresh(broad.refresh, { scope: "read" });
    expect(body["scope"]).toBe("read");
    expect(await fixture.callTool("unsaid", body["access_token"] ?? "")).toEqual(INSUFFICIENT);
    expect(await fixture.callTool("read", body["access_token"] ?? "")).toBe(broad.vendorToken);
  });
});

it("bar#RS-3 a call begun over a narrow link does not get a later broad token", async () => {
  const narrow = await fixture.signIn("read", "read");
  const caller = await fixture.authenticate(narrow.access);
  const first = await caller?.vendorToken();
  await fixture.signIn("read write", "read write");
  fixture.clock.advance(6);
  const later = expect.objectContaining({ code: "temporarily_unavailable" });
  await expect(caller?.vendorToken()).rejects.toThrow(later);
  await expect(first === undefined ? undefined : caller?.refused({ ...first, version: 0 })).rejects.toThrow(later);
  expect(await fixture.callTool("read", narrow.access)).toBe("vendor-token-2");
});

describe("a link", () => {
  it("keeps its grant when a later sign-in grants less, and drops the new token", async () => {
    const broad = await fixture.signIn("read write", "read write");
    await fixture.signIn("read", "read");
    expect(await fixture.linked()).toEqual({ token: broad.vendorToken, scope: "read write" });
    expect(await fixture.callTool("write", broad.access)).toBe(broad.vendorToken);
    expect(fixture.revoked).toEqual([]);
  });

  it("has the requested scope where the vendor does not report the granted one", async () => {
    const broad = await fixture.signIn("read write");
    const narrow = await fixture.signIn("read");
    expect(await fixture.linked()).toEqual({ token: broad.vendorToken, scope: "read write" });
    expect(await fixture.callTool("unsaid", narrow.access)).toEqual(INSUFFICIENT);
  });

  it.each([
    ["the same", "read write", "read write"],
    ["more", "read", "read write"],
    ["something else", "read write", "read admin"],
  ])("has the newest tokens where they permit %s", async (_what, before, after) => {
    await fixture.signIn("read write", before);
    const { vendorToken } = await fixture.signIn("read write", after);
    expect(await fixture.linked()).toEqual({ token: vendorToken, scope: after });
  });

  it("that lost a scope ends it for the sessions that had it: they keep what both have", async () => {
    const first = await fixture.signIn("read write", "read write");
    await fixture.signIn("read write", "read admin");
    expect(await fixture.callTool("write", first.access)).toMatch(/^403 .*scope="write"/);
    expect(await fixture.authenticate(first.access)).toMatchObject({
      scope: ["read"],
      vendorScope: ["read", "admin"],
    });
    expect(await fixture.callTool("unsaid", first.access)).toEqual(INSUFFICIENT);
  });

  it("is not kept where it is dead, has run out, or permits what is not asked for any more", async () => {
    const dead = await fixture.signIn("read write", "read write", {});
    const caller = await fixture.authenticate(dead.access);
    await caller?.refused(await caller.vendorToken());
    const second = await fixture.signIn("read", "read");
    expect((await fixture.linked()).token).toBe(second.vendorToken);

    await fixture.signIn("read write", "read write", { lifetimeSeconds: 60 });
    fixture.clock.advance(60);
    const third = await fixture.signIn("read", "read");
    expect((await fixture.linked()).token).toBe(third.vendorToken);

    await fixture.signIn("read", "read retired");
    const fourth = await fixture.signIn("read", "read");
    expect((await fixture.linked()).token).toBe(fourth.vendorToken);
  });

  it("of an earlier release, without a known scope, may permit all that is requested", async () => {
    const { access } = await fixture.signIn("read", "read");
    const key = linkKey("user", fixture);
    const { accessToken, tokenType } = (await fixture.tokens.get(key))?.tokens ?? {};
    if (accessToken === undefined || tokenType === undefined) throw new Error("there is no link");
    await fixture.tokens.put(key, { accessToken, tokenType });
    expect(await fixture.callTool("unsaid", access)).toEqual(INSUFFICIENT);
    expect(await fixture.callTool("read", access)).toBe("vendor-token-1");
    const next = await fixture.signIn("read", "read");
    expect(await fixture.callTool("unsaid", next.access)).toBe(next.vendorToken);
  });
});
