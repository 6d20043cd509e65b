/** Tokens that wait for a yes, without their page: connections.test.ts has that. */
import { OAuthError, Secret } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { beforeEach, describe, expect, it } from "vitest";
import { NOW, SOURCE, testSessions, type TestSessions } from "../../testing/test-sessions.ts";
import {
  createQuestions,
  MOST_WAITING,
  QUESTION_SECONDS,
  type Question,
  type Questions,
  type WaitingQuestion,
} from "./questions.ts";

const BROWSER = "A".repeat(43);
const OTHER_BROWSER = "B".repeat(43);
const QUESTION: Question = {
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

let test: TestSessions;
let questions: Questions;
const open = (source = SOURCE): Questions => {
  const { authenticated: records, serverKey, clock: now } = test;
  return createQuestions({ records, serverKey, now, source });
};
const sweep = async (of: Questions): Promise<readonly WaitingQuestion[]> => {
  const taken = await Promise.all((await of.due()).map(async (due) => of.takeDue(due)));
  return taken.filter((question) => question !== undefined);
};
beforeEach(() => {
  const clock = fixedClock(NOW);
  test = testSessions({ records: memoryRecordStore({ now: clock }), clock });
  questions = open();
});

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

  it("is found by no other browser, for no other vendor, and not after a change of the sign-in vendor", async () => {
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
    expect(await questions.ask(QUESTION, BROWSER)).toBeUndefined();
    const second = { ...QUESTION, tokens: { ...QUESTION.tokens, accessToken: new Secret("access-2") } };
    const replaced = await questions.ask(second, BROWSER);
    expect(replaced?.tokens.accessToken.reveal()).toBe("access-1");
    expect((await questions.find("chat", BROWSER))?.tokens.accessToken.reveal()).toBe("access-2");
    test.clock.advance(QUESTION_SECONDS);
    expect(await sweep(questions)).toHaveLength(1);
  });

  it("bar#ST-8 that is over takes no place: a user who goes on asking keeps no other from it", async () => {
    for (let asked = 0; asked <= MOST_WAITING; asked += 1) await questions.ask(QUESTION, BROWSER);
    await questions.ask({ ...QUESTION, user: "u2" }, OTHER_BROWSER);
    expect(await questions.find("chat", OTHER_BROWSER)).toBeDefined();
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
    test.clock.advance(QUESTION_SECONDS);
    expect(await sweep(questions)).toEqual([]);
  });

  it("that is due is swept once, by one of two processes, and one that is not stays", async () => {
    await questions.ask(QUESTION, BROWSER);
    test.clock.advance(QUESTION_SECONDS - 10);
    await questions.ask(QUESTION, OTHER_BROWSER);
    test.clock.advance(10);
    expect(await questions.find("chat", BROWSER)).toBeUndefined();
    const swept = (await Promise.all([sweep(questions), sweep(open())])).flat();
    expect(swept.map(({ tokens }) => tokens.accessToken.reveal())).toEqual(["access-1"]);
    expect(await questions.find("chat", OTHER_BROWSER)).toBeDefined();
    expect(await sweep(questions)).toEqual([]);
  });
});
