/** Users' links at a server with several vendors: rows under a sign-in. Twins: links.twin.test.ts. */
import { OAuthError, type Secret, systemTimer } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { audit } from "./cli/audit.ts";
import { migrate } from "./cli/migrate.ts";
import { strip } from "./cli/strip.ts";
import { memoryTokenRows } from "./storage/memory/token-rows.ts";
import type { TokenRows } from "./storage/token-rows.ts";
import { AUDIT, cliFixture, ISSUER, MIGRATE, NOW, STRIP, VENDOR } from "./testing/cli-fixture.ts";
import {
  CHAT,
  DETAILS,
  endedToken,
  linksFixture,
  listOf,
  OTHER_SIGN_IN,
  SIGN_IN,
  tokensOf,
} from "./testing/rows/links-fixture.ts";
import { UNREADABLE } from "./testing/rows/records-fixture.ts";
import { createTokenStore } from "./token-store.ts";
import { rowKeyOf } from "./tokens/token-attributes.ts";

const MODES = [
  ["bridge", "keys"],
  ["bridge", "keyless"],
  ["encrypted", "keys"],
] as const;

describe.each(MODES)("a link in mode %s, %s", (mode, keys) => {
  it("keeps sign-in, account, label, time and what was not granted, also over a refresh", async () => {
    const { store } = linksFixture({ rows: memoryTokenRows(), mode, keyless: keys === "keyless" });
    await store.link(CHAT, tokensOf("1", DETAILS), 0);
    const read = await store.readLink(CHAT);
    expect(read).toMatchObject({ linkVersion: 1, stored: { status: "active", tokens: { link: LINK } } });
    await store.withRefreshLease(CHAT, async () => tokensOf("2"), { refused: 1 });
    const stored = await store.get(CHAT);
    expect(stored).toMatchObject({ version: 2, tokens: { link: LINK } });
    expect(stored?.tokens.accessToken.reveal()).toBe("at-2");
    expect(stored?.tokens.link?.label?.reveal()).toBe("ada@chat.example");
    expect((await store.readLink(CHAT)).linkVersion).toBe(1);
    await store.describeLink(CHAT, (link) => (link === undefined ? link : { ...link, lacked: { post: 1 } }));
    expect((await store.get(CHAT))?.tokens.link?.lacked).toEqual({ post: 1 });
    expect(await listOf(store.links(CHAT.user, SIGN_IN))).toEqual([
      { user: CHAT.user, vendor: "chat", status: "active", signIn: SIGN_IN },
    ]);
  });

  it("is stored over the version that was shown, and never over a disconnect", async () => {
    const { store, rows, clock } = linksFixture({ rows: memoryTokenRows(), mode, keyless: keys === "keyless" });
    expect(await store.link(CHAT, tokensOf("1"), 1)).toBe("conflict");
    await store.link(CHAT, tokensOf("1"), 0);
    expect(await store.link(CHAT, tokensOf("2"), 0)).toBe("conflict");
    expect(await store.endLink(CHAT, 7)).toBe("conflict");
    expect(await endedToken(store.endLink(CHAT, 1))).toBe("at-1");
    expect(await store.link(CHAT, tokensOf("2"), 1)).toBe("conflict");
    // A process that died before it had revoked them leaves them to the next one.
    expect(await endedToken(store.endLink(CHAT))).toBe("at-1");
    await store.forgetLink(CHAT);
    expect(await store.link(CHAT, tokensOf("2"), 1)).toBe("conflict");
    expect(await store.readLink(CHAT)).toEqual({ linkVersion: 2, stored: "missing", endedAtMilliseconds: lastOf(NOW) });
    expect(await listOf(store.links(CHAT.user))).toEqual([]);
    expect(JSON.stringify(await rows.get(rowKeyOf(CHAT)))).not.toContain("at-1");
    expect(await store.endLink(CHAT)).toBeUndefined();
    expect(await store.link(CHAT, tokensOf("3"), 3)).toMatchObject({ version: 2 });
    await store.endLink(CHAT);
    await store.forgetLink(CHAT);
    clock.advance(3600);
    expect(await store.readLink(CHAT)).toEqual({ linkVersion: 0, stored: "missing" });
    expect(await store.link(CHAT, tokensOf("4"), 0)).toMatchObject({ version: 3 });
    expect((await store.readLink(CHAT)).linkVersion).toBe(6);
  });
});

/** Of an end in that second, by a clock of seconds. */
const lastOf = (second: number): number => second * 1000 + 999;
const LINK = { account: "C7", linkedAt: DETAILS.linkedAt, notGranted: ["post"], lacked: {} };

describe("a disconnect", () => {
  it("also fences out a user who never linked, and drops an earlier refresh's tokens", async () => {
    const { store } = linksFixture({});
    expect(await store.endLink(CHAT)).toBeUndefined();
    expect(await store.link(CHAT, tokensOf("1"), 0)).toBe("conflict");
    await store.link(CHAT, tokensOf("1"), 1);
    const discarded: string[] = [];
    const refresh = async () => {
      await store.endLink(CHAT);
      await store.forgetLink(CHAT);
      return tokensOf("late");
    };
    const discard = ({ accessToken }: { readonly accessToken: Secret }) => void discarded.push(accessToken.reveal());
    expect(await store.withRefreshLease(CHAT, refresh, { refused: 1, discard })).toBeUndefined();
    await expect.poll(() => discarded).toEqual(["at-late"]);
    expect(await store.readLink(CHAT)).toEqual({ linkVersion: 3, stored: "missing", endedAtMilliseconds: lastOf(NOW) });
  });

  it("bar#LK-9 forgets what has ended, and nothing of a link made after it, or while it forgets", async () => {
    const rows = memoryTokenRows();
    let onRead = async (): Promise<unknown> => undefined;
    const get: TokenRows["get"] = async (...args) => {
      const row = await rows.get(...args);
      await onRead();
      return row;
    };
    const { store } = linksFixture({ rows: { ...rows, get }, keyless: true });
    const other = linksFixture({ rows, keyless: true });
    const linked = async () => (await other.store.get(CHAT))?.tokens.accessToken.reveal();
    await store.link(CHAT, tokensOf("1"), 0);
    await store.endLink(CHAT);
    await store.link(CHAT, tokensOf("2"), 2);
    await store.forgetLink(CHAT);
    expect(await linked()).toBe("at-2");
    await store.endLink(CHAT);
    onRead = async () => {
      onRead = async () => undefined;
      await other.store.link(CHAT, tokensOf("3"), 4);
    };
    await store.forgetLink(CHAT);
    expect(await linked()).toBe("at-3");
  });

  it("says when it was, also once there is a new link, and to users of its own sign-in alone", async () => {
    const { store, clock } = linksFixture({});
    const other = { ...CHAT, signIn: OTHER_SIGN_IN };
    await store.endLink(other);
    expect(await store.readLink(CHAT)).toEqual({ linkVersion: 1, stored: "missing" });
    expect(await store.readLink(other)).toMatchObject({ endedAtMilliseconds: lastOf(NOW) });
    clock.advance(5);
    await store.link(CHAT, tokensOf("1"), 1);
    await store.endLink(CHAT);
    await store.forgetLink(CHAT);
    clock.advance(5);
    await store.link(CHAT, tokensOf("2"), 3);
    expect(await store.readLink(CHAT)).toMatchObject({ linkVersion: 4, endedAtMilliseconds: lastOf(NOW + 5) });
  });

  it("says when in its second it was; an earlier release's is the end of the second", async () => {
    let milliseconds = NOW * 1000 + 250;
    const now = Object.assign(() => Math.floor(milliseconds / 1000), { milliseconds: () => milliseconds });
    const rows = memoryTokenRows();
    const store = createTokenStore({ rows, timer: systemTimer, mode: "bridge", environment: "test", now });
    await store.endLink(CHAT);
    expect(await store.readLink(CHAT)).toMatchObject({ endedAtMilliseconds: NOW * 1000 + 250 });
    expect((await rows.get(rowKeyOf(CHAT)))?.attributes).toMatchObject({ link_ended_at: NOW });
    milliseconds += 2000;
    await rows.change(rowKeyOf(CHAT), { set: { link_ended_at: NOW + 2 } }, {});
    expect(await store.readLink(CHAT)).toMatchObject({ endedAtMilliseconds: lastOf(NOW + 2) });
  });

  it("ends tokens that do not open", async () => {
    const { store, rows } = linksFixture({ mode: "encrypted" });
    await store.link(CHAT, tokensOf("1"), 0);
    await rows.change(rowKeyOf(CHAT), { set: { sealed_details: "x" } }, {});
    expect(await store.readLink(CHAT)).toEqual({ linkVersion: 1, stored: "unreadable" });
    await expect(store.describeLink(CHAT, (link) => link)).rejects.toEqual(UNREADABLE);
    expect(await store.endLink(CHAT)).toBeUndefined();
    await store.forgetLink(CHAT);
    expect(await store.readLink(CHAT)).toEqual({ linkVersion: 2, stored: "missing", endedAtMilliseconds: lastOf(NOW) });
  });
});

describe("a row made under another sign-in", () => {
  it("without a sign-in counts at its own vendor alone, and is that vendor's link again", async () => {
    const { store } = linksFixture({});
    const { signIn: _, ...before } = CHAT;
    await store.put(before, tokensOf("1"));
    expect(await store.get(CHAT)).toBeUndefined();
    expect(await store.withRefreshLease(CHAT, async () => tokensOf("2"))).toBeUndefined();
    expect(await store.readLink(CHAT)).toEqual({ linkVersion: 0, stored: "missing" });
    expect(await listOf(store.links(CHAT.user, SIGN_IN))).toMatchObject([{ foreign: true }]);
    expect(await listOf(store.links(CHAT.user))).toEqual([{ user: CHAT.user, vendor: "chat", status: "active" }]);
    const own = { ...before, signIn: { vendor: before.vendor, issuer: before.issuer } };
    expect(await store.get(own)).toBeDefined();
    await store.withRefreshLease(own, async () => tokensOf("2"), { refused: 1 });
    expect(await store.get(before)).toMatchObject({ version: 2 });
  });

  it("is not read by callers of another sign-in that ask at the same moment", async () => {
    const { store } = linksFixture({});
    const theirs = { ...CHAT, signIn: OTHER_SIGN_IN };
    const never = async () => expect.fail("the vendor was asked");
    await store.link(theirs, tokensOf("theirs"), 0);
    const read = [theirs, CHAT, theirs].map((key) => store.withRefreshLease(key, never));
    const tokens = (await Promise.all(read)).map((stored) => stored?.tokens.accessToken.reveal());
    expect(tokens).toEqual(["at-theirs", undefined, "at-theirs"]);
  });

  it("is not overwritten, not ended and not described; its own key ends it", async () => {
    const { store } = linksFixture({});
    const theirs = { ...CHAT, signIn: OTHER_SIGN_IN };
    await store.link(theirs, tokensOf("theirs"), 0);
    expect(await store.link(CHAT, tokensOf("mine"), 1)).toBe("conflict");
    await expect(store.put(CHAT, tokensOf("mine"))).rejects.toThrow(OAuthError);
    expect(await store.endLink(CHAT)).toBeUndefined();
    expect(await store.describeLink(CHAT, () => DETAILS)).toBe(false);
    expect((await store.get(theirs))?.tokens.accessToken.reveal()).toBe("at-theirs");
    const [link] = await listOf(store.links(undefined, SIGN_IN));
    expect(link).toMatchObject({ signIn: OTHER_SIGN_IN, foreign: true });
    expect(await endedToken(store.endLink(theirs))).toBe("at-theirs");
    await store.forgetLink(theirs);
    const { linkVersion } = await store.readLink(CHAT);
    expect(await store.link(CHAT, tokensOf("mine"), linkVersion)).toMatchObject({ status: "active" });
  });
});

describe("a writer of the table", () => {
  it.each(["bridge", "encrypted"] as const)(
    "bar#TS-3 who moves a link to another user, vendor or sign-in gets nothing, in mode %s",
    async (mode) => {
      const { store, rows } = linksFixture({ mode, rows: memoryTokenRows() });
      await store.link(CHAT, tokensOf("victim", DETAILS), 0);
      const { attributes = {} } = (await rows.get(rowKeyOf(CHAT))) ?? {};
      const sealed = Object.fromEntries(Object.entries(attributes).filter(([name]) => !name.endsWith("_token")));
      const moved = { ...sealed, ...Object.fromEntries(SEALED.map((name) => [name, attributes[name] ?? ""])) };
      await rows.change(rowKeyOf({ ...CHAT, user: "mallory" }), { set: moved }, {});
      await expect(store.get({ ...CHAT, user: "mallory" })).rejects.toEqual(UNREADABLE);
      await rows.change(rowKeyOf({ ...CHAT, vendor: "code" }), { set: moved }, {});
      await expect(store.get({ ...CHAT, vendor: "code" })).rejects.toEqual(UNREADABLE);
      const asked = { ...CHAT, signIn: OTHER_SIGN_IN };
      expect(await store.get(asked)).toBeUndefined();
      const { vendor: sign_in_vendor, issuer: sign_in_issuer } = OTHER_SIGN_IN;
      await rows.change(rowKeyOf(CHAT), { set: { sign_in_vendor, sign_in_issuer } }, {});
      await expect(store.get(asked)).rejects.toEqual(UNREADABLE);
      await rows.change(rowKeyOf(CHAT), { set: {}, remove: ["sign_in_vendor", "sign_in_issuer"] }, {});
      const { signIn: _, ...plain } = CHAT;
      await expect(store.get(plain)).rejects.toEqual(UNREADABLE);
      await rows.change(rowKeyOf(CHAT), { set: { sign_in_vendor: SIGN_IN.vendor } }, {});
      expect(await store.get(CHAT)).toBeUndefined();
    },
  );
});

const SEALED = ["sealed_access_token", "sealed_refresh_token"];

describe("the commands of the migration", () => {
  const key = (user: string) => ({ user, vendor: VENDOR, issuer: ISSUER, signIn: SIGN_IN });

  it("open, seal and strip links as they do other rows, and keep what they do not know", async () => {
    const fixture = cliFixture();
    await fixture.records("bridge").replace(key("u1"), tokensOf("1", DETAILS));
    const { store } = linksFixture({ rows: fixture.rows, keyless: true });
    // The declaration of a server in mode bridge ends.
    fixture.clock.advance(3600);
    await store.link(key("u2"), tokensOf("2", DETAILS), 0);
    expect(await audit({ ...AUDIT, verify: true }, fixture.deps)).toMatchObject({
      counts: { opens: 1, plaintext_only: 1 },
    });
    expect(await migrate(MIGRATE, fixture.deps)).toMatchObject({ ending: "done", counts: { sealed: 1 } });
    expect(await fixture.attributes("u2")).toMatchObject({ link_version: 1, sign_in_vendor: SIGN_IN.vendor });
    expect(await fixture.attributes("u2")).not.toHaveProperty("link_details");
    expect(await strip(STRIP, fixture.deps)).toMatchObject({
      ending: "done",
      counts: { stripped: 2 },
    });
    for (const user of ["u1", "u2"]) {
      const read = await fixture.records("encrypted").read(key(user));
      expect(read?.stored.tokens.link).toMatchObject(LINK);
    }
  });
});
