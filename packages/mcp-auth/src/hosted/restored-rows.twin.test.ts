/** The twins of restored-rows.test.ts and of the generations: with one defence off, the attack succeeds. */
import { fixedClock, weaken } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { expect, it } from "vitest";
import { putBack, rowOf } from "../testing/record-stores.ts";
import { AUDIENCE, NOW, SAME, SOURCE, startSession, testSessions, testSignIns, WHO } from "../testing/test-sessions.ts";
import * as generations from "./sessions/sign-in-generation.ts";
import { claimSignIn } from "./sessions/sign-in-source.ts";
import * as index from "./sessions/user-sessions.ts";

it.each(["its row put back", "its index removed"])(
  "without the look into the index a session lives on with %s (twin of bar#TS-19)",
  async (how) => {
    weaken(index, ({ createUserSessions }) => ({
      createUserSessions: (deps) => ({ ...createUserSessions(deps), listedUntil: async () => 4_000_000_000 }),
    }));
    const { sessions, records, serverKey, session, tokens } = await startSession();
    const key = { kind: "session", id: session.id };
    const row = await rowOf(records, key);
    if (how === "its index removed") {
      await records.delete(await index.indexKey(WHO.user, { audience: AUDIENCE, source: SOURCE, serverKey }));
      expect(await sessions.endAll(WHO.user)).toBe(0);
    } else {
      expect(await sessions.endAll(WHO.user)).toBe(1);
      await putBack(records, row);
    }
    const next = await sessions.refresh(tokens.refreshToken, SAME);
    expect(await sessions.identify(next.accessToken)).toMatchObject({ user: WHO.user });
  },
);

it("a sign-in lives again when the record of its end is removed (twin of bar#TS-19)", async () => {
  const now = fixedClock(NOW);
  const table = memoryRecordStore({ now });
  const ends = new Map<string, { kind: string; id: string }>();
  const records: typeof table = {
    ...table,
    create: async (record) => {
      ends.set(record.key.kind, record.key);
      const members = Object.entries(record.data).filter(([name]) => name !== "since");
      return table.create({ ...record, data: Object.fromEntries(members) });
    },
  };
  const signIns = testSignIns(records, now);
  const cookie = (await signIns.start("u1", "Ada")).split(";")[0];
  await signIns.endAll("u1");
  expect(await signIns.read(cookie)).toBeUndefined();
  await table.delete(ends.get("sign-in-end") ?? { kind: "", id: "" });
  expect(await signIns.read(cookie)).toMatchObject({ user: "u1" });
});

it("without the generation a session revives with its sign-in vendor (twin of bar#RS-2)", async () => {
  weaken(generations, () => ({ isOfPresentSignIn: async () => true }));
  const { sessions, again, authenticated: records } = testSessions();
  const claim = (source = SOURCE) => claimSignIn({ records, audience: AUDIENCE, source }, { adopt: true });
  await claim();
  const { tokens } = await sessions.start(WHO);
  await claim({ vendor: "other", issuer: "https://other.example" });
  await claim();
  expect(await again().identify(tokens.accessToken)).toMatchObject({ user: WHO.user });
  await expect(again().refresh(tokens.refreshToken, SAME)).resolves.toBeDefined();
});
