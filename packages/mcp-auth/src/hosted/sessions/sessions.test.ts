/**
 * The promises of the sessions, over every kind of store, with two processes on it. Attacks are in
 * session-attacks.test.ts.
 */
import { fixedClock, shared } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { RECORD_STORES, type RecordStores } from "../../testing/record-stores.ts";
import { NOW, SAME, testSessions, type TestSessions, WHO } from "../../testing/test-sessions.ts";
import type { Sessions } from "./sessions.ts";

const INVALID_GRANT = expect.objectContaining({ code: "invalid_grant" });
const DAY = 24 * 3600;
const AT_ONCE = 8;

describe.each(Object.keys(RECORD_STORES))("sessions over %s", (kind) => {
  let clock: ReturnType<typeof fixedClock>;
  let test: TestSessions;
  /** Two processes. */
  let here: Sessions;
  let there: Sessions;
  const stores = shared(async () => (await RECORD_STORES[kind]?.()) as RecordStores);
  beforeEach(async () => {
    clock = fixedClock(NOW);
    test = testSessions({ records: await stores.fresh(clock), clock });
    here = test.sessions;
    there = test.again({ records: stores.again(clock) });
  });

  it("know their access tokens for an hour, in every process, by one read", async () => {
    const { session, tokens } = await here.start(WHO);
    expect(tokens).toMatchObject({ expiresInSeconds: 3600, scope: ["read", "write"] });
    const expected = { ...WHO, id: session.id, expiresAt: NOW + 3600 };
    expect(await there.identify(tokens.accessToken)).toEqual(expected);
    const before = test.calls();
    expect(await here.identify(tokens.accessToken)).toEqual(expected);
    expect(test.calls() - before).toBe(1);
    clock.advance(3599);
    expect(await here.identify(tokens.accessToken)).toEqual(expected);
    clock.advance(1);
    expect(await here.identify(tokens.accessToken)).toBeUndefined();
  });

  it("refresh: another pair, the scope of the grant, and the previous access token stays valid", async () => {
    const { session, tokens } = await here.start(WHO);
    clock.advance(100);
    const next = await there.refresh(tokens.refreshToken, SAME);
    expect(next).toMatchObject({ expiresInSeconds: 3600, scope: ["read", "write"] });
    expect(next.accessToken).not.toBe(tokens.accessToken);
    expect(next.refreshToken).not.toBe(tokens.refreshToken);
    expect(await here.identify(next.accessToken)).toEqual({ ...WHO, id: session.id, expiresAt: NOW + 3700 });
    expect(await here.identify(tokens.accessToken)).toMatchObject({ expiresAt: NOW + 3600 });
    expect(await here.find(next.refreshToken)).toEqual(session);
  });

  it("live thirty days from their last refresh", async () => {
    let { refreshToken } = (await here.start(WHO)).tokens;
    for (let month = 0; month < 5; month += 1) {
      clock.advance(30 * DAY - 1);
      ({ refreshToken } = await here.refresh(refreshToken, SAME));
    }
    // All the while the index has listed the session.
    expect(await there.endAll(WHO.user)).toBe(1);
    const other = await here.start(WHO);
    clock.advance(30 * DAY);
    await expect(here.refresh(other.tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    expect(await here.find(other.tokens.refreshToken)).toBeUndefined();
  });

  it("bar#AS-14 ten refreshes with one token, from two processes, are one", async () => {
    const { tokens } = await here.start(WHO);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? here : there).refresh(tokens.refreshToken, SAME)),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const [answer] = answers;
    expect(await here.identify(answer?.accessToken ?? "")).toBeDefined();
    await expect(there.refresh(answer?.refreshToken ?? "", SAME)).resolves.toMatchObject({ expiresInSeconds: 3600 });
  });

  it("keep the access tokens of the last hour, at most eight", async () => {
    let { tokens } = await here.start(WHO);
    const seen = [tokens.accessToken];
    for (let count = 0; count < 9; count += 1) {
      clock.advance(60);
      tokens = await here.refresh(tokens.refreshToken, SAME);
      seen.push(tokens.accessToken);
    }
    const known = await Promise.all(seen.map(async (token) => (await here.identify(token)) !== undefined));
    expect(known).toEqual([false, false, ...Array.from({ length: 8 }, () => true)]);
  });

  it("are revoked with either token, for good, and the last one of a user is reported", async () => {
    const [first, second] = [await here.start(WHO), await there.start(WHO)];
    const other = await here.start({ ...WHO, user: "T1:U2" });
    expect(await here.revoke(first.tokens.accessToken, "platform")).toEqual({ user: WHO.user, wasLast: false });
    expect(await there.identify(first.tokens.accessToken)).toBeUndefined();
    await expect(there.refresh(first.tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    expect(await there.revoke(second.tokens.refreshToken, "platform")).toEqual({ user: WHO.user, wasLast: true });
    expect(await here.identify(other.tokens.accessToken)).toBeDefined();
  });

  it("are revoked again where the first answer was lost, and not after ten minutes", async () => {
    const { tokens } = await here.start(WHO);
    const first = await here.revoke(tokens.refreshToken, "platform");
    expect(await there.revoke(tokens.refreshToken, "platform")).toEqual(first);
    await here.start(WHO);
    expect(await there.revoke(tokens.refreshToken, "platform")).toEqual({ user: WHO.user, wasLast: false });
    clock.advance(599);
    expect(await there.revoke(tokens.refreshToken, "platform")).toEqual({ user: WHO.user, wasLast: false });
    clock.advance(1);
    expect(await here.revoke(tokens.refreshToken, "platform")).toBeUndefined();
  });

  it("of two concurrent revocations one is the last", async () => {
    const [first, second] = [await here.start(WHO), await there.start(WHO)];
    const revoked = await Promise.all([
      here.revoke(first.tokens.refreshToken, "platform"),
      there.revoke(second.tokens.refreshToken, "platform"),
    ]);
    expect(revoked.some((answer) => answer?.wasLast)).toBe(true);
  });

  it("end by id, and all of a user's at once, those of others not", async () => {
    const started = await Promise.all(Array.from({ length: 4 }, (_, index) => (index % 2 ? here : there).start(WHO)));
    const other = await here.start({ ...WHO, user: "T1:U2" });
    await here.end(started[0]?.session.id ?? "");
    await here.end("AAAAAAAAAAAAAAAAAAAAAA");
    expect(await there.endAll(WHO.user)).toBe(3);
    expect(await there.endAll(WHO.user)).toBe(0);
    for (const { tokens } of started) expect(await here.identify(tokens.accessToken)).toBeUndefined();
    expect(await here.identify(other.tokens.accessToken)).toBeDefined();
    const later = await here.start(WHO);
    expect(await there.identify(later.tokens.accessToken)).toBeDefined();
  });

  it("many started at once are all in the index", async () => {
    const users = Array.from({ length: AT_ONCE }, (_, index) => (index % 2 ? here : there).start(WHO));
    await Promise.all(users);
    expect(await here.endAll(WHO.user)).toBe(AT_ONCE);
  });

  it("hold no token, and nothing that opens one", async () => {
    const { session, tokens } = await here.start(WHO);
    const next = await here.refresh(tokens.refreshToken, SAME);
    const record = await test.records.get({ kind: "session", id: session.id });
    const text = JSON.stringify(record);
    for (const token of [tokens, next].flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken])) {
      for (let at = 30; at + 20 < token.length; at += 10) expect(text).not.toContain(token.slice(at, at + 20));
    }
  });
});
