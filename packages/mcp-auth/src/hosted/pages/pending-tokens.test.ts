/** Tokens that wait for a yes, without their page: connections.test.ts has that. */
import { OAuthError, Secret } from "@oauth-broker/oauth-core";
import { fixedClock, ofEachTest } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { describe, expect, it } from "vitest";
import { NOW, SOURCE, testSessions } from "../../testing/test-sessions.ts";
import {
  createPendingTokens,
  PENDING_SECONDS,
  PENDING_LIMITS,
  type PendingLink,
  type PendingTokens,
  type WaitingLink,
} from "./pending-tokens.ts";

const BROWSER = "A".repeat(43);
const OTHER_BROWSER = "B".repeat(43);
const QUESTION: PendingLink = {
  user: "u1",
  vendor: "chat",
  linkVersion: 3,
  isOther: true,
  ticketId: "t1",
  tokens: {
    accessToken: new Secret("access-1"),
    refreshToken: new Secret("refresh-1"),
    idToken: new Secret("id-1"),
    vendorData: new Secret('{"team":"T1"}'),
    tokenType: "Bearer",
    scope: "read",
    expiresAt: NOW + 60,
    link: { account: "C7", label: new Secret("ada@chat.example"), linkedAt: NOW, notGranted: ["post"], lacked: {} },
  },
};

const open = (source = SOURCE, limits = PENDING_LIMITS): PendingTokens => {
  const { authenticated: records, serverKey, clock: now } = test;
  return createPendingTokens({ records, serverKey, now, source }, limits);
};
const browserOf = (index: number): string => String(index).padStart(43, "0");
const accessOf = (asked: readonly WaitingLink[]): string[] => asked.map(({ tokens }) => tokens.accessToken.reveal());
const sweep = async (of: PendingTokens): Promise<readonly WaitingLink[]> => {
  const taken = await Promise.all((await of.due()).map(async (due) => of.takeDue(due)));
  return taken.filter((question) => question !== undefined);
};
const test = ofEachTest(() => {
  const clock = fixedClock(NOW);
  return testSessions({ records: memoryRecordStore({ now: clock }), clock });
});
const questions = ofEachTest(open);

describe("a question", () => {
  it("gives back in its browser what it was asked with, in every process", async () => {
    await questions.ask(QUESTION, BROWSER);
    const found = await open().find("chat", BROWSER);
    expect(found).toMatchObject({ user: "u1", linkVersion: 3, isOther: true, ticketId: "t1" });
    const { accessToken, refreshToken, idToken, vendorData, link, ...rest } = found?.tokens ?? QUESTION.tokens;
    expect([accessToken, refreshToken, idToken, vendorData, link?.label].map((secret) => secret?.reveal())).toEqual([
      "access-1",
      "refresh-1",
      "id-1",
      '{"team":"T1"}',
      "ada@chat.example",
    ]);
    expect(rest).toEqual({ tokenType: "Bearer", scope: "read", expiresAt: NOW + 60 });
    expect(link).toMatchObject({ account: "C7", notGranted: ["post"] });
  });

  it("is found by its browser, for its vendor and sign-in vendor alone", async () => {
    await questions.ask(QUESTION, BROWSER);
    expect(await questions.find("chat", OTHER_BROWSER)).toBeUndefined();
    expect(await questions.find("code", BROWSER)).toBeUndefined();
    expect(await open({ vendor: "another", issuer: "https://another.example" }).find("chat", BROWSER)).toBeUndefined();
    const id = (await questions.find("chat", BROWSER))?.id ?? "";
    expect(await questions.take(id, OTHER_BROWSER)).toBe(false);
    expect(await questions.take(id, BROWSER)).toBe(true);
    expect(await questions.take(id, BROWSER)).toBe(false);
    expect(await questions.find("chat", BROWSER)).toBeUndefined();
  });

  it("bar#TS-3 of another browser, by its pointer, is not this browser's", async () => {
    await questions.ask(QUESTION, BROWSER);
    await questions.ask({ ...QUESTION, user: "u2" }, OTHER_BROWSER);
    const victim = (await questions.find("chat", BROWSER))?.id ?? "";
    const mine = (await questions.find("chat", OTHER_BROWSER))?.id ?? "";
    // Even with a pointer that a process wrote: the question itself names its browser.
    const { authenticated: records } = test;
    const create = records.create.bind(records);
    records.create = (record) =>
      create(
        record.key.kind === "link-question-of" ? { ...record, data: { ...record.data, question: victim } } : record,
      );
    await questions.ask({ ...QUESTION, user: "u2" }, OTHER_BROWSER);
    expect(await questions.find("chat", OTHER_BROWSER)).toBeUndefined();
    expect(mine).not.toBe(victim);
  });

  it("replaces the one that waits in the same browser, which is given back once", async () => {
    expect(await questions.ask(QUESTION, BROWSER)).toEqual([]);
    const second = { ...QUESTION, tokens: { ...QUESTION.tokens, accessToken: new Secret("access-2") } };
    expect(accessOf(await questions.ask(second, BROWSER))).toEqual(["access-1"]);
    expect((await questions.find("chat", BROWSER))?.tokens.accessToken.reveal()).toBe("access-2");
    test.clock.advance(PENDING_SECONDS);
    expect(await sweep(questions)).toHaveLength(1);
  });

  it("bar#ST-8 that is over takes no place: a user who goes on asking keeps no other from it", async () => {
    const few = open(SOURCE, { waiting: 20, ofUser: 5, listed: 60 });
    for (let asked = 0; asked < 70; asked += 1) await few.ask(QUESTION, BROWSER);
    await few.ask({ ...QUESTION, user: "u2" }, OTHER_BROWSER);
    expect(await few.find("chat", OTHER_BROWSER)).toBeDefined();
  });

  it("bar#ST-8 of one user leaves the places of others: a sixth ends the oldest", async () => {
    const ask = (index: number) => {
      const tokens = { ...QUESTION.tokens, accessToken: new Secret(`access-${index}`) };
      return questions.ask({ ...QUESTION, tokens }, browserOf(index));
    };
    await questions.ask({ ...QUESTION, user: "u2" }, OTHER_BROWSER);
    for (let index = 1; index <= 5; index += 1) expect(await ask(index)).toEqual([]);
    expect(accessOf(await ask(6))).toEqual(["access-1"]);
    expect(accessOf(await ask(7))).toEqual(["access-2"]);
    const waiting = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((index) => questions.find("chat", browserOf(index))));
    expect(waiting.map((found) => found !== undefined)).toEqual([false, false, true, true, true, true, true]);
    expect(await questions.find("chat", OTHER_BROWSER)).toBeDefined();
    // Nothing is left for the sweep but what no user answers.
    expect(await sweep(questions)).toEqual([]);
    test.clock.advance(PENDING_SECONDS);
    expect(await sweep(questions)).toHaveLength(6);
  });

  it("of a user with too many is swept where the process that asked did not end it", async () => {
    for (let index = 1; index <= 5; index += 1) await questions.ask(QUESTION, browserOf(index));
    const { authenticated: records } = test;
    const create = records.create.bind(records);
    records.create = (record) => {
      if (record.key.kind === "link-question-of") throw new OAuthError("temporarily_unavailable", "The store is down");
      return create(record);
    };
    await expect(questions.ask(QUESTION, browserOf(6))).rejects.toThrow(OAuthError);
    records.create = create;
    expect(await sweep(questions)).toHaveLength(1);
    expect(await questions.find("chat", browserOf(1))).toBeUndefined();
  });

  it("bar#ST-8 is refused while too many wait, whoever asks, and due ones do not count", async () => {
    const few = open(SOURCE, { waiting: 3, ofUser: 2, listed: 9 });
    const ask = (index: number) => few.ask({ ...QUESTION, user: `u${index}` }, browserOf(index));
    for (let index = 1; index <= 3; index += 1) await ask(index);
    await expect(ask(4)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    expect(await few.find("chat", browserOf(4))).toBeUndefined();
    for (let round = 1; round <= 2; round += 1) {
      test.clock.advance(PENDING_SECONDS);
      for (let index = 1; index <= 3; index += 1) await ask(10 * round + index);
    }
    // Their end is late, and the index does not grow without end.
    test.clock.advance(PENDING_SECONDS);
    await expect(ask(31)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    expect(await sweep(few)).toHaveLength(9);
    await ask(32);
  });

  it("is over also when its place in the index cannot be given back", async () => {
    await questions.ask(QUESTION, BROWSER);
    const { id = "" } = (await questions.find("chat", BROWSER)) ?? {};
    const { authenticated: records } = test;
    const advance = records.advance.bind(records);
    records.advance = (key, ...rest) => {
      if (key.kind === "link-questions") throw new OAuthError("temporarily_unavailable", "The store is down");
      return advance(key, ...rest);
    };
    expect(await questions.take(id, BROWSER)).toBe(true);
    records.advance = advance;
    test.clock.advance(PENDING_SECONDS);
    expect(await sweep(questions)).toEqual([]);
  });

  it("that is due is swept once, by one of two processes, and one that is not stays", async () => {
    await questions.ask(QUESTION, BROWSER);
    test.clock.advance(PENDING_SECONDS - 10);
    await questions.ask(QUESTION, OTHER_BROWSER);
    test.clock.advance(10);
    expect(await questions.find("chat", BROWSER)).toBeUndefined();
    const swept = (await Promise.all([sweep(questions), sweep(open())])).flat();
    expect(swept.map(({ tokens }) => tokens.accessToken.reveal())).toEqual(["access-1"]);
    expect(await questions.find("chat", OTHER_BROWSER)).toBeDefined();
    expect(await sweep(questions)).toEqual([]);
  });
});
