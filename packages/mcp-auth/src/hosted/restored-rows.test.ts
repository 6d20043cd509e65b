/**
 * What a writer of the table who lacks the server key gets by putting older rows back, or by removing
 * rows. What is left is in docs/exceptions.md, and the last test shows it. The twins are in
 * restored-rows.twin.test.ts.
 */
import type { RecordKey, RecordStore } from "@oauth-broker/oauth-core";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { putBack, rowOf } from "../testing/record-stores.ts";
import {
  AUDIENCE,
  NOW,
  SAME,
  SOURCE,
  startSession,
  testServerKey,
  testSessions,
  testSignIns,
  WHO,
} from "../testing/test-sessions.ts";
import { indexKey } from "./sessions/user-sessions.ts";

const INVALID_GRANT = expect.objectContaining({ code: "invalid_grant", description: "The refresh token is not valid" });
const DAY = 24 * 3600;

const sessionKey = (id: string): RecordKey => ({ kind: "session", id });
const indexOf = (test: ReturnType<typeof testSessions>): Promise<RecordKey> =>
  indexKey(WHO.user, { audience: AUDIENCE, source: SOURCE, serverKey: test.serverKey });

describe("an ended session whose row was put back", () => {
  it.each<[string, (test: ReturnType<typeof testSessions>, id: string) => Promise<unknown>]>([
    ["all of the user's", ({ sessions }) => sessions.endAll(WHO.user)],
    ["it alone", ({ sessions }, id) => sessions.end(id)],
  ])("bar#TS-19 is not refreshed, and ends with its access token, where %s ended", async (_which, end) => {
    const test = testSessions();
    const { sessions, records, clock } = test;
    const { session, tokens } = await sessions.start(WHO);
    const row = await rowOf(records, sessionKey(session.id));
    await end(test, session.id);
    await putBack(records, row);
    await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    clock.advance(3599);
    expect(await sessions.identify(tokens.accessToken)).toBeDefined();
    clock.advance(1);
    expect(await sessions.identify(tokens.accessToken)).toBeUndefined();
    await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
  });

  it("bar#TS-19 does not give the answer to its previous refresh token once more", async () => {
    const { sessions, records, session, tokens } = await startSession();
    await sessions.refresh(tokens.refreshToken, SAME);
    const row = await rowOf(records, sessionKey(session.id));
    await sessions.endAll(WHO.user);
    await putBack(records, row);
    await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
  });

  it("is refreshed together with the index of its time, which throws out every newer session", async () => {
    const test = testSessions();
    const { sessions, records } = test;
    const { session, tokens } = await sessions.start(WHO);
    const rows = [await rowOf(records, sessionKey(session.id)), await rowOf(records, await indexOf(test))];
    await sessions.endAll(WHO.user);
    const newer = await sessions.start(WHO);
    for (const row of rows) await putBack(records, row);
    await expect(sessions.refresh(tokens.refreshToken, SAME)).resolves.toBeDefined();
    await expect(sessions.refresh(newer.tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
  });
});

describe("an index of sessions that was removed", () => {
  it("bar#TS-19 lists no session, so none is refreshed", async () => {
    const test = testSessions();
    const { sessions, records } = test;
    const { refreshToken } = (await sessions.start(WHO)).tokens;
    await records.delete(await indexOf(test));
    expect(await sessions.endAll(WHO.user)).toBe(0);
    await expect(sessions.refresh(refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    expect(await records.get(await indexOf(test))).toBeUndefined();
    // The user signs in again, and all is as before.
    const next = await sessions.start(WHO);
    await expect(sessions.refresh(next.tokens.refreshToken, SAME)).resolves.toBeDefined();
  });

  it("bar#TS-19 between the look and the extension is not made anew", async () => {
    const clock = fixedClock(NOW);
    const store = memoryRecordStore({ now: clock });
    let reads = Infinity;
    const test = testSessions({
      clock,
      records: {
        ...store,
        get: async (key) => {
          if (key.kind === "user-sessions" && reads-- <= 0) await store.delete(key);
          return store.get(key);
        },
      },
    });
    const { tokens } = await test.sessions.start(WHO);
    clock.advance(30 * DAY - 1);
    const next = await test.sessions.refresh(tokens.refreshToken, SAME);
    clock.advance(DAY);
    reads = 1;
    await expect(test.sessions.refresh(next.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    expect(await store.get(await indexOf(test))).toBeUndefined();
  });
});

describe("the record of the end of a user's sign-ins", () => {
  const setUp = () => {
    const now = fixedClock(NOW);
    const table = memoryRecordStore({ now });
    let key: RecordKey = { kind: "sign-in-end", id: "" };
    const watched: RecordStore = {
      ...table,
      create: async (record) => {
        if (record.key.kind === key.kind) ({ key } = record);
        return table.create(record);
      },
    };
    const serverKey = testServerKey(now);
    const signIns = testSignIns(watched, now, { serverKey });
    const elsewhere = testSignIns(watched, now, { serverKey, source: { ...SOURCE, vendor: "another" } });
    const start = async (): Promise<string> => (await signIns.start("u1", "Ada")).split(";")[0] ?? "";
    return { now, table, signIns, elsewhere, start, removeEnd: () => table.delete(key) };
  };

  it("bar#TS-19 revives no cookie by being removed, before or after an end", async () => {
    const { signIns, start, removeEnd } = setUp();
    const cookie = await start();
    expect(await signIns.read(cookie)).toMatchObject({ user: "u1" });
    await signIns.endAll("u1");
    await removeEnd();
    expect(await signIns.read(cookie)).toBeUndefined();
    const next = await start();
    expect(await signIns.read(next)).toMatchObject({ user: "u1" });
    await removeEnd();
    expect(await signIns.read(next)).toBeUndefined();
  });

  it("outlives every cookie it is compared with", async () => {
    const { now, signIns, start } = setUp();
    await start();
    now.advance(DAY / 2 - 1);
    const late = await start();
    now.advance(DAY / 2 - 1);
    expect(await signIns.read(late)).toMatchObject({ user: "u1" });
    await signIns.endAll("u1");
    expect(await signIns.read(late)).toBeUndefined();
  });

  it("counts for a sign-in of the release before by its time", async () => {
    const { now, table, signIns, elsewhere, start } = setUp();
    const cookie = await start();
    const row = await rowOf(table, { kind: "sign-in", id: (await signIns.read(cookie))?.cookie.hash ?? "" });
    const { since: _, ...data } = row.data;
    await putBack(table, { ...row, data });
    expect(await signIns.read(cookie)).toMatchObject({ user: "u1" });
    expect(await elsewhere.read(cookie)).toBeUndefined();
    now.advance(1);
    await signIns.endAll("u1");
    expect(await signIns.read(cookie)).toBeUndefined();
  });
});
