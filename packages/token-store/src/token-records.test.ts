import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { Secret } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { DataKeys } from "./data-keys.ts";
import { bridge } from "./modes/bridge.ts";
import { encrypted } from "./modes/encrypted.ts";
import type { Mode } from "./modes/mode.ts";
import { createTokenRecords } from "./row-records.ts";
import { memoryTokenRows } from "./rows/memory.ts";
import type { Attributes, TokenRows } from "./rows/token-rows.ts";
import { LONGEST_TOKEN_BYTES, rowKeyOf } from "./token-attributes.ts";
import type { TokenRecords } from "./token-records.ts";
import type { TokenKey, TokenSet } from "./tokens.ts";

const NOW = 1_700_000_000;
const KEY: TokenKey = { user: "u1", vendor: "example", issuer: "https://issuer.example" };
const ROW = rowKeyOf(KEY);
const TOKENS: TokenSet = {
  accessToken: new Secret("at-1"),
  refreshToken: new Secret("rt-1"),
  idToken: new Secret("id-1"),
  tokenType: "Bearer",
  scope: "a b",
  expiresAt: NOW + 3600,
  vendorData: new Secret('{"instance_url":"https://x.example"}'),
};
const OLDER: Attributes = {
  access_token: "old-at",
  refresh_token: "old-rt",
  token_type: "bearer",
  scope: "a",
  expires_at: NOW + 100,
  updated_at: NOW - 50,
};
const UNREADABLE = expect.objectContaining({
  name: "OAuthError",
  code: "temporarily_unavailable",
  extras: expect.objectContaining({ reason: "token_unreadable" }),
});

/** Keys by name, and a switch for an outage of the key service. */
function fakeDataKeys(): DataKeys & { down: boolean; stale: boolean; current: string } {
  const known = new Map<string, Buffer>();
  const keys = {
    down: false,
    stale: false,
    current: "k1",
    toSeal: async () => ({ dataKey: await keys.toOpen(keys.current), wrapped: keys.current }),
    toOpen: async (wrapped: string): Promise<Buffer> => {
      if (keys.down) throw Object.assign(new Error("down"), { name: "OAuthError", code: "temporarily_unavailable" });
      const key = known.get(wrapped) ?? randomBytes(32);
      known.set(wrapped, key);
      return key;
    },
    isStale: (wrapped: string) => wrapped !== keys.current,
    close: () => known.clear(),
  };
  return keys;
}

interface Bench {
  readonly rows: TokenRows;
  readonly keys: ReturnType<typeof fakeDataKeys>;
  readonly events: string[];
  readonly clock: ReturnType<typeof fixedClock>;
  records(
    mode: Mode,
    options?: { readonly environment?: string; readonly keyless?: boolean; rows?: TokenRows },
  ): TokenRecords;
  attributes(): Promise<Attributes>;
  older(set: Attributes, remove?: readonly string[]): Promise<void>;
}

function bench(): Bench {
  const rows = memoryTokenRows({ table: "tokens" });
  const keys = fakeDataKeys();
  const clock = fixedClock(NOW);
  const events: string[] = [];
  return {
    rows,
    keys,
    events,
    clock,
    records: (mode, { environment = "test", keyless = false, rows: other = rows } = {}) =>
      createTokenRecords({
        rows: other,
        dataKeys: keyless ? undefined : keys,
        mode,
        environment,
        now: clock,
        onEvent: ({ name }) => events.push(name),
      }),
    attributes: async () => (await rows.get(ROW))?.attributes ?? {},
    older: async (set, remove = []) => void (await rows.change(ROW, { set, remove }, {})),
  };
}

const plain = (tokens: TokenSet | undefined): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(tokens ?? {}).map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]),
  );

describe.each([
  ["bridge", bridge],
  ["encrypted", encrypted],
])("mode %s", (name, mode) => {
  it("gives back what was put, and counts versions", async () => {
    const { records, clock } = bench();
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
    const { records, attributes, older } = bench();
    await records(mode).replace(KEY, TOKENS);
    const whole = await attributes();
    const broken = String(whole["sealed_access_token"]).replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    await older({ sealed_access_token: broken });
    await expect(records(mode).read(KEY)).rejects.toEqual(UNREADABLE);
    await older({ ...OLDER });
    await expect(records(mode).read(KEY)).rejects.toEqual(UNREADABLE);
    // An incomplete sealed half is a broken one too, and never a plaintext row.
    for (const name of ["data_key", "format", "mode", "version", "sealed_access_token", "sealed_details"]) {
      await older({ ...whole, ...OLDER }, []);
      await older({}, [name]);
      await expect(records(mode).read(KEY), name).rejects.toEqual(UNREADABLE);
    }
    await older({ ...whole, format: 2 });
    await expect(records(mode).read(KEY)).rejects.toEqual(UNREADABLE);
  });

  it("bar#TS-3 does not open what was moved: to another user, vendor, field, table, environment, issuer or version", async () => {
    const { records, attributes, rows, older } = bench();
    await records(mode).replace(KEY, TOKENS);
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
    await expect(records(mode).read({ ...KEY, issuer: "https://evil.example" })).rejects.toEqual(UNREADABLE);
    await expect(records(mode, { environment: "prod" }).read(KEY)).rejects.toEqual(UNREADABLE);
    await older({ sealed_access_token: String(whole["sealed_refresh_token"]) });
    await expect(records(mode).read(KEY)).rejects.toEqual(UNREADABLE);
    await older({ ...sealed, version: 2 });
    await expect(records(mode).read(KEY)).rejects.toEqual(UNREADABLE);
    await older({ ...sealed, mode: name === "bridge" ? "encrypted" : "bridge" });
    await expect(records(mode).read(KEY)).rejects.toEqual(UNREADABLE);
    expect(plain(((await place(KEY)) as { stored: { tokens: TokenSet } }).stored.tokens)).toEqual(plain(TOKENS));
  });

  it("bar#TS-9 writes nothing while the key service is down, and reads nothing", async () => {
    const { records, keys, attributes, older } = bench();
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

  it("bar#TS-16 takes a token of 32 KB in any script, and refuses a longer, an empty or a broken one", async () => {
    const { records } = bench();
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
    for (const odd of [{ scope: "\ud800" }, { tokenType: "\udc00" }, { expiresAt: 1.5 }, { expiresAt: Infinity }]) {
      await expect(store.replace(KEY, { ...TOKENS, ...odd })).rejects.toEqual(
        expect.objectContaining({ name: "TokenStoreError", code: "input_invalid" }),
      );
    }
    expect(plain((await store.read(KEY))?.stored.tokens)).toEqual(plain(long));
  });

  it("bar#TS-17 shows no token when a record is printed", async () => {
    const { records } = bench();
    const store = records(mode);
    await store.replace(KEY, TOKENS);
    const { stored, previous } = (await store.read(KEY))!;
    const printed =
      inspect({ stored, previous }, { depth: 9, showHidden: true }) + JSON.stringify({ stored, previous });
    expect(printed).toContain("[secret]");
    expect(printed).not.toMatch(/at-1|rt-1|id-1|instance_url/);
  });

  it("takes a row past its ttl for absent, still there or not", async () => {
    const { records, older } = bench();
    await records(mode).replace(KEY, TOKENS);
    await older({ ttl: NOW + 1 });
    expect(await records(mode).read(KEY)).toBeDefined();
    await older({ ttl: NOW });
    expect(await records(mode).read(KEY)).toBeUndefined();
    await records(mode).replace(KEY, TOKENS);
    expect(await records(mode).read(KEY)).toBeDefined();
  });

  it("bar#TS-14 wraps a row again whose root key is no longer in use, and reads it meanwhile", async () => {
    const { records, keys, events, attributes } = bench();
    await records(mode).replace(KEY, TOKENS);
    const before = await attributes();
    keys.current = "k2";
    expect(plain((await records(mode).read(KEY))?.stored.tokens)).toEqual(plain(TOKENS));
    expect(events).toContain("rewrapped");
    const after = await attributes();
    expect(after).toMatchObject({ data_key: "k2", version: before["version"], written_at: before["written_at"] });
    expect(after["updated_at"]).toBe(before["updated_at"]);
    expect(plain((await records(mode).read(KEY))?.stored.tokens)).toEqual(plain(TOKENS));
  });

  it("bar#TS-19 notices an older row that was put back", async () => {
    const { records, events, attributes, older } = bench();
    const store = records(mode);
    await store.replace(KEY, TOKENS);
    const first = await attributes();
    await store.replace(KEY, { ...TOKENS, accessToken: new Secret("at-2") });
    await store.read(KEY);
    expect(events).toEqual([]);
    await older(first);
    await store.read(KEY);
    expect(events).toContain("version_went_back");
  });

  it("bar#RV-4 commits a refresh only while version, status and lease are as they were", async () => {
    const { records, older, attributes } = bench();
    const store = records(mode);
    await store.replace(KEY, TOKENS);
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

  it("removes a record only as it was read", async () => {
    const { records, attributes } = bench();
    const store = records(mode);
    await store.replace(KEY, TOKENS);
    const read = (await store.read(KEY))!;
    await store.replace(KEY, TOKENS);
    expect(await store.remove(read)).toBe(false);
    expect(await store.remove((await store.read(KEY))!)).toBe(true);
    expect(await attributes()).toEqual({});
  });
});

describe("bridge", () => {
  it("leaves a copy that older readers know", async () => {
    const { records, attributes } = bench();
    await records(bridge).replace(KEY, TOKENS);
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

  it("accepts a plaintext-only row, seals it, and counts", async () => {
    const { records, attributes, older, events } = bench();
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

  it("bar#TS-8 takes a copy that an older writer changed, seals it as another version, and counts", async () => {
    const { records, older, events } = bench();
    const store = records(bridge);
    await store.replace(KEY, TOKENS);
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
    const { records, older } = bench();
    const store = records(bridge);
    await store.replace(KEY, TOKENS);
    const held = (await store.note((await store.read(KEY))!, {
      lease: { owner: "me", until: NOW + 30, attemptId: "t" },
    }))!;
    const change = await store.seal(held, { ...TOKENS, accessToken: new Secret("at-2") });
    await older({ access_token: "old-at" });
    expect(await store.commit(change)).toBe("conflict");
    expect((await store.read(KEY))?.stored.tokens.accessToken.reveal()).toBe("old-at");
  });

  it("a user who came back through an older build is active again; a revoked record stays so", async () => {
    const { records, older } = bench();
    const store = records(bridge);
    await store.replace(KEY, TOKENS);
    await store.note((await store.read(KEY))!, { status: "reauthorize" });
    expect((await store.read(KEY))?.stored.status).toBe("reauthorize");
    await older({ access_token: "old-at" });
    expect((await store.read(KEY))?.stored.status).toBe("active");
    await store.note((await store.read(KEY))!, { status: "revoked" });
    await older({ access_token: "other" });
    expect((await store.read(KEY))?.stored.status).toBe("revoked");
  });

  it("bar#TS-11 adds no plaintext to a row marked encrypted", async () => {
    const { records, attributes, older } = bench();
    await records(encrypted).replace(KEY, TOKENS);
    const store = records(bridge);
    await store.replace(KEY, { ...TOKENS, accessToken: new Secret("at-2") });
    expect(Object.keys(await attributes())).not.toEqual(expect.arrayContaining(["access_token"]));
    await older({ access_token: "old-at" });
    expect((await store.read(KEY))?.stored.tokens.accessToken.reveal()).toBe("old-at");
    expect(await attributes()).not.toHaveProperty("access_token");
    expect(await attributes()).toMatchObject({ mode: "encrypted" });
  });

  it("without a key keeps plaintext, and does not touch a row that was sealed", async () => {
    const { records, attributes } = bench();
    const store = records(bridge, { keyless: true });
    await store.replace(KEY, TOKENS);
    expect((await store.read(KEY))?.stored).toMatchObject({ version: 1, writtenAt: NOW });
    expect(Object.keys(await attributes()).filter((name) => name.startsWith("sealed"))).toEqual([]);
    await records(bridge).read(KEY);
    await expect(store.read(KEY)).rejects.toEqual(UNREADABLE);
    await expect(store.replace(KEY, TOKENS)).rejects.toEqual(UNREADABLE);
  });
});

describe("encrypted", () => {
  it("leaves ciphertext only, and removes a copy that was there", async () => {
    const { records, attributes } = bench();
    await records(bridge).replace(KEY, TOKENS);
    await records(encrypted).replace(KEY, { ...TOKENS, accessToken: new Secret("at-2") });
    const left = await attributes();
    for (const name of [
      "access_token",
      "refresh_token",
      "id_token",
      "token_type",
      "scope",
      "expires_at",
      "updated_at",
    ]) {
      expect(left).not.toHaveProperty(name);
    }
    expect(JSON.stringify(left)).not.toMatch(/at-2|rt-1|id-1/);
  });

  it("bar#TS-7 fails closed on a plaintext-only row, and leaves it as it is", async () => {
    const { records, attributes, older } = bench();
    await older(OLDER);
    await expect(records(encrypted).read(KEY)).rejects.toEqual(UNREADABLE);
    expect(await attributes()).toEqual(OLDER);
  });

  it("bar#TS-7 uses the ciphertext where both are there, ignores the copy, and counts", async () => {
    const { records, events, older } = bench();
    await records(bridge).replace(KEY, TOKENS);
    await older({ access_token: "planted" });
    expect((await records(encrypted).read(KEY))?.stored.tokens.accessToken.reveal()).toBe("at-1");
    expect(events).toEqual(["copy_ignored"]);
  });
});
