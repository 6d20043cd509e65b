import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { fixture, KEY, NOW, OLDER, plain, withTokens, TOKENS, UNREADABLE } from "../testing/rows/records-fixture.ts";
import { bridge } from "./bridge.ts";
import { encrypted } from "./encrypted.ts";

describe("bridge", () => {
  it("writes a copy for older readers", async () => {
    const { attributes } = await withTokens(bridge);
    expect(await attributes()).toMatchObject({
      access_token: "at-1",
      refresh_token: "rt-1",
      id_token: "id-1",
      token_type: "Bearer",
      scope: "a b",
      expires_at: NOW + 3600,
      updated_at: NOW,
    });
  });

  it("bar#TS-8 takes its own copy of an empty scope for no change", async () => {
    const { records, events } = fixture();
    await records(bridge).replace(KEY, { ...TOKENS, scope: "" });
    expect((await records(bridge).read(KEY))?.stored.version).toBe(1);
    expect(events).toEqual([]);
  });

  it("accepts a plaintext-only row, seals it, and counts", async () => {
    const { records, attributes, older, events } = fixture();
    await older(OLDER);
    const read = (await records(bridge).read(KEY))!;
    expect(plain(read.stored.tokens)).toEqual({
      accessToken: "old-at",
      refreshToken: "old-rt",
      tokenType: "bearer",
      scope: "a",
      expiresAt: NOW + 100,
    });
    expect(read.stored).toMatchObject({ version: 1, writtenAt: NOW - 50 });
    expect(await attributes()).toMatchObject({
      ...OLDER,
      version: 1,
      mode: "bridge",
      sealed_access_token: expect.any(String),
    });
    expect(events).toEqual(["plaintext_only"]);
    await records(encrypted).read(KEY);
    expect(events).toEqual(["plaintext_only", "copy_ignored"]);
  });

  it("bar#TS-8 takes and seals a copy that an older writer changed, and counts", async () => {
    const { store, older, events } = await withTokens(bridge);
    const stale = (await store.read(KEY))!;
    await older({ access_token: "old-at", refresh_token: "old-rt", expires_at: NOW + 9 }, ["id_token"]);
    const read = (await store.read(KEY))!;
    expect(plain(read.stored.tokens)).toEqual({
      accessToken: "old-at",
      refreshToken: "old-rt",
      tokenType: "Bearer",
      scope: "a b",
      expiresAt: NOW + 9,
      vendorData: TOKENS.vendorData?.reveal(),
    });
    expect(read.stored.version).toBe(2);
    expect(await store.note(stale, { status: "reauthorize" })).toBeUndefined();
    await store.read(KEY);
    expect(events).toEqual(["copy_changed"]);
  });

  it("bar#TS-8 does not commit over a copy that an older writer changes meanwhile", async () => {
    const { store, older } = await withTokens(bridge);
    const held = (await store.note((await store.read(KEY))!, {
      lease: { owner: "me", until: NOW + 30, attemptId: "t" },
    }))!;
    const change = await store.seal(held, { ...TOKENS, accessToken: new Secret("at-2") });
    await older({ access_token: "old-at" });
    expect(await store.commit(change)).toBe("conflict");
    expect((await store.read(KEY))?.stored.tokens.accessToken.reveal()).toBe("old-at");
  });

  it("an older build's new authorization reactivates a user, but no revoked record", async () => {
    const { store, older } = await withTokens(bridge);
    await store.note((await store.read(KEY))!, { status: "reauthorize" });
    expect((await store.read(KEY))?.stored.status).toBe("reauthorize");
    await older({ access_token: "old-at" });
    expect((await store.read(KEY))?.stored.status).toBe("active");
    await store.note((await store.read(KEY))!, { status: "revoked" });
    await older({ access_token: "other" });
    expect((await store.read(KEY))?.stored.status).toBe("revoked");
  });

  it("bar#TS-11 adds no plaintext to a row marked encrypted", async () => {
    const { records, attributes, older } = await withTokens(encrypted);
    const store = records(bridge);
    await store.replace(KEY, { ...TOKENS, accessToken: new Secret("at-2") });
    expect(Object.keys(await attributes())).not.toEqual(expect.arrayContaining(["access_token"]));
    await older({ access_token: "old-at" });
    expect((await store.read(KEY))?.stored.tokens.accessToken.reveal()).toBe("old-at");
    expect(await attributes()).not.toHaveProperty("access_token");
    expect(await attributes()).toMatchObject({ mode: "encrypted" });
  });

  it("without a key keeps plaintext, and does not touch a row that was sealed", async () => {
    const { records, attributes } = fixture();
    const store = records(bridge, { keyless: true });
    await store.replace(KEY, TOKENS);
    expect((await store.read(KEY))?.stored).toMatchObject({ version: 1, writtenAt: NOW });
    expect(Object.keys(await attributes()).filter((name) => name.startsWith("sealed"))).toEqual([]);
    await records(bridge).read(KEY);
    await expect(store.read(KEY)).rejects.toEqual(UNREADABLE);
    await expect(store.replace(KEY, TOKENS)).rejects.toEqual(UNREADABLE);
  });

  it("never seals a token that is longer than a row allows, and reports it as unreadable", async () => {
    const { records, older, attributes } = fixture();
    const long = { ...OLDER, access_token: "x".repeat(32 * 1024 + 1) };
    await older(long);
    await expect(records(bridge).read(KEY)).rejects.toEqual(UNREADABLE);
    expect(await attributes()).toEqual(long);
  });

  it("uses the time of the copy that counts, and removes a lease on the previous tokens", async () => {
    const { store, older, clock } = await withTokens(bridge);
    await store.note((await store.read(KEY))!, { lease: { owner: "o", until: NOW + 30, attemptId: "t" } });
    clock.advance(20);
    await older({ access_token: "old-at", updated_at: NOW + 10 });
    const read = (await store.read(KEY))!;
    expect(read.stored).toMatchObject({ version: 2, writtenAt: NOW + 10 });
    expect(read.lease).toBeUndefined();
    expect((await store.read(KEY))?.lease).toBeUndefined();
  });
});
