/** Reconnect events: what a receiver gets when a link dies and is back, over outages and restarts. */
import { createHmac, createSecretKey } from "node:crypto";
import { type Fetch, OAuthError, systemTimer } from "@oauth-broker/oauth-core";
import { createLog } from "@oauth-broker/service";
import { createLinkEvents, type LinkChange } from "@oauth-broker/service/events";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { beforeEach, describe, expect, it } from "vitest";
import { HOSTED, loadHosted, problemsOf } from "../testing/environments.ts";
import { openOpenIdFixture, refuseTokens } from "../testing/hosted-fixture.ts";

const SECRETS = ["whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4"];
const KEYS = SECRETS.map((secret) => createSecretKey(Buffer.from(secret.slice("whsec_".length), "base64")));
const DEAD = { type: "link.dead", user: "user", vendor: "chat", reason: "refused", grant: "1.0" } as const;
const RESTORED = { type: "link.restored", user: "user", vendor: "chat" } as const;
const DOWN = 503;

interface Got {
  readonly headers: Headers;
  readonly body: string;
}

function openReceiver() {
  const clock = fixedClock(1_700_000_000);
  const records = memoryRecordStore({ now: clock });
  const got: Got[] = [];
  const lines: string[] = [];
  let answer: () => Promise<Response> | Response = () => new Response(null, { status: 204 });
  const fetch: Fetch = async (_url, init) => {
    got.push({ headers: new Headers(init?.headers), body: await new Response(init?.body).text() });
    return answer();
  };
  /** A process of the service. */
  const start = (limits?: Parameters<typeof createLinkEvents>[1]) =>
    createLinkEvents(
      {
        records,
        now: clock,
        timer: systemTimer,
        fetch,
        log: createLog({ write: (line) => void lines.push(line) }),
        settings: { url: "https://receiver.example/links", keys: KEYS },
        vendors: () => ["chat"],
      },
      limits,
    );
  return {
    clock,
    records,
    got,
    lines,
    start,
    answer: (next: typeof answer) => void (answer = next),
    ids: () => got.map(({ headers }) => headers.get("webhook-id")),
    types: () => got.map(({ body }) => (JSON.parse(body) as { readonly type: string }).type),
  };
}

let receiver: ReturnType<typeof openReceiver>;
beforeEach(() => void (receiver = openReceiver()));

describe("an event", () => {
  it("is signed with each secret, and names user, vendor, reason and time alone", async () => {
    const events = receiver.start();
    events.note(DEAD);
    await events.sweep();
    const [{ headers, body } = expect.fail("nothing arrived")] = receiver.got;
    expect(JSON.parse(body)).toEqual({
      type: "link.dead",
      timestamp: "2023-11-14T22:13:20.000Z",
      data: { user: "user", vendor: "chat", reason: "refused" },
    });
    const signed = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${body}`;
    const expected = KEYS.map((key) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
    expect(headers.get("webhook-signature")).toBe(expected.join(" "));
  });

  it("is sent once, however many processes note and send it", async () => {
    const processes = [receiver.start(), receiver.start(), receiver.start()];
    for (const events of processes) events.note(DEAD);
    await Promise.all(processes.map((events) => events.sweep()));
    for (const events of processes) await events.sweep();
    receiver.clock.advance(7_200);
    for (const events of processes) await events.sweep();
    expect(receiver.types()).toEqual(["link.dead"]);
  });

  it("waits for a receiver that is down, over a restart, and has the same id", async () => {
    receiver.answer(() => new Response(null, { status: DOWN }));
    const first = receiver.start();
    first.note(DEAD);
    await first.sweep();
    await first.sweep();
    expect(receiver.got).toHaveLength(1);
    receiver.answer(() => Promise.reject(new TypeError("no connection")));
    receiver.clock.advance(45);
    await receiver.start().sweep();
    receiver.answer(() => new Response(null, { status: 200 }));
    receiver.clock.advance(90);
    const last = receiver.start();
    await last.sweep();
    receiver.clock.advance(7_200);
    await last.sweep();
    expect([receiver.got.length, new Set(receiver.ids()).size]).toEqual([3, 1]);
    expect(receiver.lines.join("")).not.toMatch(/whsec|user/);
  });

  it.each([301, 404, 410])("that is answered with %d has not arrived", async (status) => {
    receiver.answer(() => new Response(null, { status }));
    const events = receiver.start();
    events.note(DEAD);
    await events.sweep();
    receiver.clock.advance(45);
    await events.sweep();
    expect(receiver.got).toHaveLength(2);
  });

  it("is noted while the store is down, and kept when it is back", async () => {
    const { records } = receiver;
    const { get } = records;
    const events = receiver.start();
    events.note(DEAD);
    records.get = () => Promise.reject(new OAuthError("temporarily_unavailable", "down"));
    await events.sweep();
    records.get = get;
    await events.sweep();
    expect(receiver.got).toHaveLength(1);
  });

  it("tells that a link is back only if it was reported dead, and then that it died again", async () => {
    const events = receiver.start();
    events.note(RESTORED);
    await events.sweep();
    events.note(DEAD);
    await events.sweep();
    events.note(RESTORED);
    await events.sweep();
    // Noted before the user authorized again.
    const late = receiver.start();
    late.note(DEAD);
    await late.sweep();
    events.note({ ...DEAD, grant: "2.0" });
    await events.sweep();
    expect(receiver.types()).toEqual(["link.dead", "link.restored", "link.dead"]);
    expect(new Set(receiver.ids()).size).toBe(3);
    const reasons = receiver.got.map(({ body }) => JSON.parse(body).data.reason);
    expect(reasons).toEqual(["refused", undefined, "refused"]);
  });

  it("is the last of its link, and of a bounded number, for 72 hours", async () => {
    receiver.answer(() => new Response(null, { status: DOWN }));
    const events = receiver.start({ waiting: 2, keptSeconds: 72 * 3600 });
    for (const user of ["one", "two", "three"]) {
      events.note({ ...DEAD, user });
      await events.sweep();
      receiver.clock.advance(1);
    }
    events.note({ ...RESTORED, user: "three" });
    await events.sweep();
    receiver.got.length = 0;
    receiver.answer(() => new Response(null, { status: 200 }));
    receiver.clock.advance(72 * 3600 - 5);
    await events.sweep();
    expect(receiver.types()).toEqual(["link.dead", "link.restored"]);
    expect(receiver.lines.filter((line) => line.includes("too_many"))).toHaveLength(1);
  });
});

it("a grant that the vendor ended is noted once it is used, and the link that replaces it", async () => {
  const noted: LinkChange[] = [];
  await using fixture = await openOpenIdFixture({
    provider: { accessTokenLifetimeSeconds: 300 },
    events: { note: (change) => void noted.push(change) },
  });
  const { body } = await fixture.connect();
  fixture.clock.advance(301);
  refuseTokens(fixture.provider);
  expect(await fixture.authenticate(body["access_token"] ?? "")).toBeUndefined();
  const vendor = fixture.settings.vendor.vendor.id;
  const link = { user: "user", vendor };
  const dead = { ...link, type: "link.dead", reason: "refused", grant: expect.stringMatching(/^\d+\.\d+$/) };
  await expect.poll(() => noted).toEqual([{ ...link, type: "link.restored" }, dead]);
  await fixture.connect();
  await expect.poll(() => noted.at(-1)).toEqual({ ...link, type: "link.restored" });
});

describe("the receiver of events", () => {
  const read = (events: Readonly<Record<string, string>>) => loadHosted({ ...HOSTED, ...events });
  const EVENTS_URL = "https://receiver.example:8443/links";

  it("is known by its URL and its secrets", () => {
    const { events, egress } = read({ EVENTS_URL, EVENTS_SECRET: SECRETS.join(",") });
    expect(events?.url).toBe(EVENTS_URL);
    expect(events?.keys.map((key, at) => KEYS[at]?.equals(key))).toEqual([true, true]);
    expect(egress.operatorUrls).toContain(EVENTS_URL);
    expect(read({}).events).toBeUndefined();
  });

  it.each([
    { EVENTS_URL },
    { EVENTS_SECRET: SECRETS[0] ?? "" },
    { EVENTS_URL, EVENTS_SECRET: "secret-text" },
    { EVENTS_URL, EVENTS_SECRET: "whsec_c2hvcnQ=" },
    { EVENTS_URL, EVENTS_SECRET: [...SECRETS, `${SECRETS[0]}AAA`].join(",") },
    { EVENTS_URL: "http://receiver.example/", EVENTS_SECRET: SECRETS[0] ?? "" },
    { EVENTS_URL: "https://a:b@receiver.example/", EVENTS_SECRET: SECRETS[0] ?? "" },
    { EVENTS_URL: "https://10.0.0.1/", EVENTS_SECRET: SECRETS[0] ?? "" },
  ])("is refused as %j", (events) => {
    const problems = problemsOf({ ...HOSTED, ...events }).join();
    expect(problems).toMatch(/EVENTS_/);
    expect(problems).not.toContain("secret-text");
  });
});
