import { OAuthError, type RecordStore } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { describe, expect, it } from "vitest";
import { AUDIENCE, NOW, SOURCE, testSessions, WHO } from "../../testing/test-sessions.ts";
import { indexKey } from "./user-sessions.ts";

const OUTAGE = new OAuthError("temporarily_unavailable", "The record store does not answer");
const indexOf = async ({ records, serverKey }: ReturnType<typeof testSessions>) =>
  records.get(await indexKey(WHO.user, { audience: AUDIENCE, source: SOURCE, serverKey }));
const DAY = 24 * 3600;

/** A store in which `before` runs ahead of the creation of a session. */
function storeWith(before: () => Promise<void>): { records: RecordStore; clock: ReturnType<typeof fixedClock> } {
  const clock = fixedClock(NOW);
  const store = memoryRecordStore({ now: clock });
  const records: RecordStore = {
    ...store,
    create: async (record) => {
      if (record.key.kind === "session" && record.stage === "live") await before();
      return store.create(record);
    },
  };
  return { records, clock };
}

describe("the index of a user's sessions", () => {
  it("names a session before there is one, so that a crash between loses none", async () => {
    let dies = true;
    const test = testSessions(storeWith(async () => (dies ? Promise.reject(OUTAGE) : undefined)));
    await expect(test.sessions.start(WHO)).rejects.toThrow(OUTAGE);
    expect((await indexOf(test))?.data["sessions"]).toHaveLength(1);
    dies = false;
    const { tokens } = await test.sessions.start(WHO);
    expect(await test.sessions.endAll(WHO.user)).toBe(1);
    expect(await test.sessions.identify(tokens.accessToken)).toBeUndefined();
  });

  it("ends a session that is about to be made: it is never created", async () => {
    let ended: number | undefined;
    const test: ReturnType<typeof testSessions> = testSessions(
      storeWith(async () => {
        ended ??= await test.again().endAll(WHO.user);
      }),
    );
    await expect(test.sessions.start(WHO)).rejects.toThrow(expect.objectContaining({ code: "invalid_grant" }));
    expect(ended).toBe(0);
    await expect(test.sessions.start(WHO)).resolves.toBeDefined();
  });

  it("counts a session that is about to be made as one, for a minute", async () => {
    let dies = false;
    const test = testSessions(storeWith(async () => (dies ? Promise.reject(OUTAGE) : undefined)));
    const { tokens } = await test.sessions.start(WHO);
    dies = true;
    await expect(test.sessions.start(WHO)).rejects.toThrow(OUTAGE);
    expect(await test.sessions.revoke(tokens.refreshToken, "platform")).toMatchObject({ wasLast: false });
    test.clock.advance(60);
    expect(await test.sessions.revoke(tokens.refreshToken, "platform")).toMatchObject({ wasLast: true });
  });

  it("does not count a session that has expired", async () => {
    const { sessions, clock } = testSessions();
    await sessions.start(WHO);
    clock.advance(30 * DAY);
    const { tokens } = await sessions.start(WHO);
    expect(await sessions.revoke(tokens.refreshToken, "platform")).toEqual({ user: WHO.user, wasLast: true });
  });

  it("forgets what has expired, and in the end the user", async () => {
    const test = testSessions();
    const { sessions, clock } = test;
    await sessions.start(WHO);
    clock.advance(60 * DAY);
    expect(await indexOf(test)).toBeUndefined();
    const { tokens } = await sessions.start(WHO);
    expect((await indexOf(test))?.data["sessions"]).toHaveLength(1);
    await sessions.revoke(tokens.refreshToken, "platform");
    clock.advance(60);
    expect(await indexOf(test)).toBeUndefined();
  });

  it("is bounded: one session too many ends the oldest", async () => {
    const test = testSessions();
    const { sessions, clock } = test;
    const started = [];
    for (let count = 0; count < 66; count += 1) {
      started.push(await sessions.start(WHO));
      clock.advance(1);
    }
    const live = await Promise.all(started.map(({ tokens }) => sessions.identify(tokens.accessToken)));
    expect(live.map((session) => session !== undefined)).toEqual(started.map((_, index) => index >= 2));
    expect((await indexOf(test))?.data["sessions"]).toHaveLength(64);
    expect(await sessions.endAll(WHO.user)).toBe(64);
  });

  it("of one server is not that of another on the same table", async () => {
    const { sessions, again } = testSessions();
    const other = again({ audience: "https://other.example/mcp" });
    const { tokens } = await sessions.start(WHO);
    await other.start(WHO);
    expect(await other.endAll(WHO.user)).toBe(1);
    expect(await sessions.identify(tokens.accessToken)).toBeDefined();
    expect(await sessions.revoke(tokens.accessToken, "platform")).toMatchObject({ wasLast: true });
  });

  it("does not reveal the user", async () => {
    const test = testSessions();
    await test.sessions.start(WHO);
    const index = await indexOf(test);
    expect(index).toBeDefined();
    expect(JSON.stringify(index)).not.toContain(WHO.user);
  });
});
