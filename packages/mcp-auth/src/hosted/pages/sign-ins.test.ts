/** The pages' own sign-in without its pages: attacks.test.ts and connections.test.ts have those. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { expect, it } from "vitest";
import { NOW, testServerKey, testSignIns } from "../../testing/test-sessions.ts";

const now = fixedClock(NOW);

it("counts a sign-in after an end of the same second, and an end after that sign-in", async () => {
  const signIns = testSignIns(memoryRecordStore({ now }), now);
  const start = async () => (await signIns.start("u1", "Ada")).split(";")[0];
  for (let round = 0; round < 3; round += 1) {
    const cookie = await start();
    expect(await signIns.read(cookie)).toMatchObject({ user: "u1" });
    await signIns.endAll("u1");
    expect(await signIns.read(cookie)).toBeUndefined();
  }
});

it("does not report the end of a user's sign-ins that could not be recorded", async () => {
  const records = memoryRecordStore({ now });
  const serverKey = testServerKey(now);
  await testSignIns(records, now, { serverKey }).endAll("u1");
  const busy = testSignIns({ ...records, advance: async () => ({ outcome: "absent" }) }, now, { serverKey });
  await expect(busy.endAll("u1")).rejects.toMatchObject({ code: "temporarily_unavailable" });
});
