import { inspect } from "node:util";
import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { bridge } from "../modes/bridge.ts";
import { encrypted } from "../modes/encrypted.ts";
import { memoryTokenRows } from "../storage/memory/token-rows.ts";
import { fixture, KEY, NOW, OLDER, plain, withTokens, TOKENS, UNREADABLE } from "../testing/rows/records-fixture.ts";
import { LONGEST_TOKEN_BYTES, rowKeyOf } from "./token-attributes.ts";
import type { TokenKey, TokenSet } from "./tokens.ts";

describe.each([
  ["bridge", bridge],
  ["encrypted", encrypted],
])("mode %s", (name, mode) => {
  it("gives back what was put, and counts versions", async () => {
    const { records, clock } = fixture();
    const store = records(mode);
    expect(await store.read(KEY)).toBeUndefined();
    expect((await store.replace(KEY, TOKENS)).version).toBe(1);
    const read = await store.read(KEY);
    expect(plain(read?.stored.tokens)).toEqual(plain(TOKENS));
    expect(read?.stored).toMatchObject({ status: "active", version: 1, writtenAt: NOW });
    clock.advance(5);
    expect((await store.replace(KEY, { accessToken: new Secret("at-2"), tokenType: "mac" })).version).toBe(2);
    const second = await store.read(KEY);
    expect(plain(second?.stored.tokens)).toEqual({ accessToken: "at-2", tokenType: "mac" });
    expect(second?.stored.writtenAt).toBe(NOW + 5);
  });

  it("bar#TS-7 fails on a ciphertext that is broken, copy or no copy", async () => {
    const { store, attributes, older } = await withTokens(mode);
    const whole = await attributes();
    const broken = String(whole["sealed_access_token"]).replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    await older({ sealed_access_token: broken });
    await expect(store.read(KEY)).rejects.toEqual(UNREADABLE);
    await older({ ...OLDER });
    await expect(store.read(KEY)).rejects.toEqual(UNREADABLE);
    // An incomplete sealed half is a broken one too, and never a plaintext row.
    for (const name of ["data_key", "format", "mode", "version", "sealed_access_token", "sealed_details"]) {
      await older({ ...whole, ...OLDER }, []);
      await older({}, [name]);
      await expect(store.read(KEY), name).rejects.toEqual(UNREADABLE);
    }
    await older({ ...whole, format: 2 });
    await expect(store.read(KEY)).rejects.toEqual(UNREADABLE);
  });

  it("bar#TS-3 does not open what was moved to another user, vendor, field, table or version", async () => {
    const { store, records, attributes, rows, older } = await withTokens(mode);
    const whole = await attributes();
    const sealed = Object.fromEntries(
      Object.entries(whole).filter(([attribute]) => !(attribute in OLDER || attribute === "id_token")),
    );
    const place = async (key: TokenKey, table = rows): Promise<unknown> => {
      await table.change(rowKeyOf(key), { set: sealed }, {});
      return records(mode, { rows: table }).read(key);
    };
    await expect(place({ ...KEY, user: "u2" })).rejects.toEqual(UNREADABLE);
    await expect(place({ ...KEY, vendor: "other" })).rejects.toEqual(UNREADABLE);
    await expect(place(KEY, memoryTokenRows({ table: "others" }))).rejects.toEqual(UNREADABLE);
    await expect(store.read({ ...KEY, issuer: "https://evil.example" })).rejects.toEqual(UNREADABLE);
    await expect(records(mode, { environment: "prod" }).read(KEY)).rejects.toEqual(UNREADABLE);
    await older({ sealed_access_token: String(whole["sealed_refresh_token"]) });
    await expect(store.read(KEY)).rejects.toEqual(UNREADABLE);
    await older({ ...sealed, version: 2 });
    await expect(store.read(KEY)).rejects.toEqual(UNREADABLE);
    await older({ ...sealed, mode: name === "bridge" ? "encrypted" : "bridge" });
    await expect(store.read(KEY)).rejects.toEqual(UNREADABLE);
    expect(plain(((await place(KEY)) as { stored: { tokens: TokenSet } }).stored.tokens)).toEqual(plain(TOKENS));
  });

  it("bar#TS-9 writes nothing while the key service is down, and reads nothing", async () => {
    const { records, keys, attributes, older } = fixture();
    keys.down = true;
    const down = expect.objectContaining({ code: "temporarily_unavailable" });
    await expect(records(mode).replace(KEY, TOKENS)).rejects.toEqual(down);
    expect(await attributes()).toEqual({});
    keys.down = false;
    await records(mode).replace(KEY, TOKENS);
    const before = await attributes();
    keys.down = true;
    await expect(records(mode).read(KEY)).rejects.toEqual(down);
    await expect(records(mode).replace(KEY, TOKENS)).rejects.toEqual(down);
    expect(await attributes()).toEqual(before);
    await older({ access_token: "changed" });
    await expect(records(mode).read(KEY)).rejects.toEqual(down);
  });

  it("bar#TS-16 takes a token of 32 KB in any script, refuses a longer or empty one", async () => {
    const { records } = fixture();
    const store = records(mode);
    const long = {
      ...TOKENS,
      accessToken: new Secret("é\u0000\u{1f511}".repeat(LONGEST_TOKEN_BYTES).slice(0, 13_100)),
    };
    await store.replace(KEY, long);
    expect(plain((await store.read(KEY))?.stored.tokens)).toEqual(plain(long));
    const refused = async (accessToken: string, code: string): Promise<void> => {
      const tokens = { ...TOKENS, accessToken: new Secret(accessToken) };
      await expect(store.replace(KEY, tokens)).rejects.toEqual(
        expect.objectContaining({ name: "TokenStoreError", code }),
      );
    };
    await refused("x".repeat(LONGEST_TOKEN_BYTES + 1), "too_large");
    await refused("", "input_invalid");
    await refused("\ud800", "input_invalid");
    for (const odd of [
      { scope: "\ud800" },
      { tokenType: "\udc00" },
      { tokenType: "" },
      { expiresAt: 1.5 },
      { expiresAt: Infinity },
    ]) {
      await expect(store.replace(KEY, { ...TOKENS, ...odd })).rejects.toEqual(
        expect.objectContaining({ name: "TokenStoreError", code: "input_invalid" }),
      );
    }
    expect(plain((await store.read(KEY))?.stored.tokens)).toEqual(plain(long));
  });

  it("bar#TS-17 shows no token when a record is printed", async () => {
    const { store } = await withTokens(mode);
    const { stored, previous } = (await store.read(KEY))!;
    const printed =
      inspect({ stored, previous }, { depth: 9, showHidden: true }) + JSON.stringify({ stored, previous });
    expect(printed).toContain("[secret]");
    expect(printed).not.toMatch(/at-1|rt-1|id-1|instance_url/);
  });

  it("takes a row past its ttl for absent, still there or not", async () => {
    const { store, older } = await withTokens(mode);
    await older({ ttl: NOW + 1 });
    expect(await store.read(KEY)).toBeDefined();
    await older({ ttl: NOW });
    expect(await store.read(KEY)).toBeUndefined();
    await store.replace(KEY, TOKENS);
    expect(await store.read(KEY)).toBeDefined();
  });

  it("bar#TS-14 wraps a row again whose root key is no longer in use, and reads it meanwhile", async () => {
    const { store, keys, events, attributes } = await withTokens(mode);
    const before = await attributes();
    keys.current = "k2";
    expect(plain((await store.read(KEY))?.stored.tokens)).toEqual(plain(TOKENS));
    expect(events).toContain("rewrapped");
    const after = await attributes();
    expect(after).toMatchObject({ data_key: "k2", version: before["version"], written_at: before["written_at"] });
    expect(after["updated_at"]).toBe(before["updated_at"]);
    expect(plain((await store.read(KEY))?.stored.tokens)).toEqual(plain(TOKENS));
  });

  it("bar#TS-19 notices an older row that was restored", async () => {
    const { store, events, attributes, older } = await withTokens(mode);
    const first = await attributes();
    await store.replace(KEY, { ...TOKENS, accessToken: new Secret("at-2") });
    await store.read(KEY);
    expect(events).toEqual([]);
    await older(first);
    await store.read(KEY);
    expect(events).toContain("version_went_back");
  });

  it("bar#RV-4 commits a refresh only while version, status and lease are as they were", async () => {
    const { store, older, attributes } = await withTokens(mode);
    const lease = { owner: "me", until: NOW + 30, attemptId: "t1" };
    const held = (await store.note((await store.read(KEY))!, { lease }))!;
    expect(held.lease).toEqual(lease);
    expect(await store.note((await store.read(KEY))!, { lease: null })).toBeDefined();
    expect(await store.note(held, { lease: null })).toBeUndefined();
    const again = (await store.note((await store.read(KEY))!, { lease }))!;
    const previous = { refreshToken: new Secret("rt-1"), until: NOW + 60 };
    const change = await store.seal(again, { ...TOKENS, accessToken: new Secret("at-2") }, previous);
    for (const foreign of [{ status: "revoked" }, { lease_owner: "another" }, { version: 9 }]) {
      const before = await attributes();
      await older(foreign);
      expect(await store.commit(change)).toBe("conflict");
      await older(before);
    }
    expect(await store.commit(change)).toBe("written");
    const read = (await store.read(KEY))!;
    expect(read).toMatchObject({ stored: { version: 2, status: "active" } });
    expect(read.lease).toBeUndefined();
    expect(read.previous?.refreshToken.reveal()).toBe("rt-1");
    expect(read.stored.tokens.accessToken.reveal()).toBe("at-2");
  });

  it("deletes a record only while it is revoked, and then forgets its version", async () => {
    const { records, rows, attributes, events } = fixture();
    let beforeDelete = async (): Promise<unknown> => undefined;
    const store = records(mode, {
      rows: {
        ...rows,
        delete: async (...args) => {
          await beforeDelete();
          return rows.delete(...args);
        },
      },
    });
    const revoke = async (): Promise<unknown> => store.note((await store.read(KEY))!, { status: "revoked" });
    await store.replace(KEY, TOKENS);
    await store.deleteRevoked(KEY);
    await revoke();
    beforeDelete = () => store.replace(KEY, TOKENS);
    await store.deleteRevoked(KEY);
    expect((await store.read(KEY))?.stored).toMatchObject({ status: "active", version: 2 });
    await revoke();
    beforeDelete = async () => undefined;
    await store.deleteRevoked(KEY);
    expect(await attributes()).toEqual({});
    await store.replace(KEY, TOKENS);
    expect((await store.read(KEY))?.stored.version).toBe(1);
    expect(events).toEqual([]);
  });
});
