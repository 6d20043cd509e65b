/** Tickets without their pages. Who may answer one: connect.test.ts. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import { beforeEach, describe, expect, it } from "vitest";
import { NOW, SOURCE, testSessions, type TestSessions } from "../../testing/test-sessions.ts";
import { createTickets, MAX_OPEN, TICKET_SECONDS, type Tickets } from "./tickets.ts";
import { overwriteRow } from "../../testing/record-stores.ts";
import { sessionsOfSeveral } from "../link-policy/link-policy.ts";

const URL = "https://server.example";
const LINKING = { signIn: "example", sessionMaxSeconds: 86_400 };
const OWNER = { user: "T1:U1", clientId: "desk" };
const CHAT = { vendor: "chat", scopes: ["post", "read"] };

let test: TestSessions;
let tickets: Tickets;
let sessionId: string;
const open = (changes: { readonly source?: typeof SOURCE; readonly deploymentUrl?: string } = {}): Tickets => {
  const { authenticated: records, serverKey, clock: now } = test;
  const of = { source: SOURCE, signInGeneration: async () => 0, links: sessionsOfSeveral(LINKING), deploymentUrl: URL };
  return createTickets({ records, serverKey, now, ...of, ...changes });
};
const startSession = async (owner = OWNER): Promise<string> => {
  const sessions = test.again({ links: sessionsOfSeveral(LINKING) });
  return (await sessions.start({ ...owner, scope: ["chat:post"] })).session.id;
};
const ask = async (changes: object = {}) => tickets.ask({ ...OWNER, ...CHAT, sessionId, ...changes });
const valueOf = (url: string): string => url.slice(`${URL}/connect/`.length);

beforeEach(async () => {
  const clock = fixedClock(NOW);
  test = testSessions({ records: memoryRecordStore({ now: clock }), clock });
  tickets = open();
  sessionId = await startSession();
});

describe("a question", () => {
  it("gets the ticket that is open for it, with the same URL, in every process", async () => {
    const ticket = await ask();
    expect(ticket.expiresAt).toBe(NOW + TICKET_SECONDS);
    expect(ticket.url).toMatch(/^https:\/\/server\.example\/connect\/[A-Za-z0-9_-]{43}$/);
    expect(ticket.id).toBe(hashOf(valueOf(ticket.url)));
    test.clock.advance(60);
    expect(await ask({ scopes: ["read", "post", "read"] })).toEqual(ticket);
    expect(await open().ask({ ...OWNER, ...CHAT, sessionId })).toEqual(ticket);
  });

  it("asked twice at once is one ticket", async () => {
    const asked = await Promise.all(Array.from({ length: 6 }, () => ask()));
    expect(new Set(asked.map(({ url }) => url)).size).toBe(1);
  });

  it.each([
    ["vendor", { vendor: "code" }],
    ["scopes", { scopes: ["post"] }],
    ["user", { user: "T1:U2" }],
    ["client", { clientId: "other" }],
  ])("of another %s is another", async (_what, changes) => {
    const other = await startSession({ ...OWNER, ...changes });
    expect((await ask({ ...changes, sessionId: other })).url).not.toBe((await ask()).url);
  });

  it("gets another ticket once the first is decided, cancelled, expired or of an ended session", async () => {
    const urls = [await ask()];
    await tickets.decide(urls[0]?.id ?? "", "approved");
    urls.push(await ask());
    await tickets.decide(urls[1]?.id ?? "", "denied");
    urls.push(await ask());
    await tickets.cancel(urls[2]?.id ?? "", OWNER);
    urls.push(await ask());
    test.clock.advance(TICKET_SECONDS);
    urls.push(await ask());
    await test.again({ links: sessionsOfSeveral(LINKING) }).end(sessionId);
    sessionId = await startSession();
    urls.push(await ask());
    expect(new Set(urls.map(({ url }) => url)).size).toBe(6);
    expect(await Promise.all(urls.map(({ id }) => tickets.stateOf(id, OWNER)))).toEqual([
      "gone",
      "gone",
      "gone",
      "gone",
      "gone",
      "open",
    ]);
  });

  it("of which one too many are open ends the oldest", async () => {
    const asked = [];
    for (let count = 0; count <= MAX_OPEN; count += 1) asked.push(await ask({ scopes: [`s${count}`] }));
    const states = await Promise.all(asked.map(({ id }) => tickets.stateOf(id, OWNER)));
    expect(states).toEqual(["gone", ...Array.from({ length: MAX_OPEN }, () => "open")]);
    expect(await tickets.find(valueOf(asked[0]?.url ?? ""))).toBeUndefined();
  });

  it("counts only open ones among those", async () => {
    const asked = [];
    for (let count = 0; count < MAX_OPEN; count += 1) asked.push(await ask({ scopes: [`s${count}`] }));
    await tickets.decide(asked[2]?.id ?? "", "approved");
    await ask({ scopes: ["more"] });
    expect(await tickets.stateOf(asked[0]?.id ?? "", OWNER)).toBe("open");
  });
});

describe("a ticket", () => {
  it("is found by the value in its URL, as often as it is looked at, until it is decided once", async () => {
    const { id, url } = await ask();
    for (let count = 0; count < 3; count += 1) {
      expect(await tickets.find(valueOf(url))).toEqual({ id, ...OWNER, ...CHAT, sessionId });
    }
    const decided = await Promise.all([tickets.decide(id, "approved"), tickets.decide(id, "denied")]);
    expect(decided.filter(Boolean)).toHaveLength(1);
    expect(await tickets.find(valueOf(url))).toBeUndefined();
  });

  it("is not found by its id, another value, or anything else", async () => {
    const { id } = await ask();
    for (const value of [id, "A".repeat(43), "", "x", "../x", `${"A".repeat(43)}\n`]) {
      expect(await tickets.find(value), value).toBeUndefined();
    }
  });

  it("says what became of it to its user and client alone", async () => {
    const { id } = await ask();
    expect(await tickets.stateOf(id, OWNER)).toBe("open");
    expect(await tickets.stateOf(id, { ...OWNER, user: "T1:U2" })).toBe("gone");
    expect(await tickets.stateOf(id, { ...OWNER, clientId: "other" })).toBe("gone");
    await tickets.cancel(id, { ...OWNER, user: "T1:U2" });
    await tickets.decide(id, "approved");
    expect([await tickets.stateOf(id, OWNER), await tickets.isApproved(id)]).toEqual(["approved", true]);
    await tickets.settle(id, "linked");
    expect(await tickets.stateOf(id, OWNER)).toBe("linked");
    await tickets.settle(id, "denied");
    expect(await tickets.stateOf(id, OWNER)).toBe("linked");
  });

  it("outlives its ten minutes while the browser is at the vendor", async () => {
    const { id } = await ask();
    test.clock.advance(TICKET_SECONDS - 1);
    await tickets.decide(id, "approved");
    test.clock.advance(TICKET_SECONDS);
    expect(await tickets.isApproved(id)).toBe(true);
  });

  it("is dead with its session, approved or not", async () => {
    const [one, two] = [await ask(), await ask({ vendor: "code" })];
    await tickets.decide(two.id, "approved");
    await test.again({ links: sessionsOfSeveral(LINKING) }).end(sessionId);
    expect(await tickets.find(valueOf(one.url))).toBeUndefined();
    expect(await tickets.isApproved(two.id)).toBe(false);
    expect(await tickets.stateOf(two.id, OWNER)).toBe("gone");
  });

  it("is none at another sign-in vendor or server on the same table", async () => {
    const { id, url } = await ask();
    const other = open({ source: { vendor: "another", issuer: "https://another.example" } });
    expect(await other.find(valueOf(url))).toBeUndefined();
    expect(await other.stateOf(id, OWNER)).toBe("gone");
    // Decided too, when no session is asked for any more.
    await tickets.decide(id, "denied");
    expect([await tickets.stateOf(id, OWNER), await other.stateOf(id, OWNER)]).toEqual(["denied", "gone"]);
    const second = open({ deploymentUrl: "https://second.example" });
    expect((await second.ask({ ...OWNER, ...CHAT, sessionId })).id).not.toBe(id);
  });

  it("bar#TS-3 is refused if another wrote its row, and no row holds its value", async () => {
    const { id, url } = await ask();
    const key = { kind: "ticket", id };
    expect(JSON.stringify(await test.records.get(key))).not.toContain(valueOf(url));
    await overwriteRow(test.records, key, (data) => ({ ...data, user: "T1:VICTIM" }));
    expect(await tickets.find(valueOf(url))).toBeUndefined();
  });
});
