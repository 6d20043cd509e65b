/** Many callers and many tokens at once, over four processes on one table. */
import { volume } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type StormFixture, startStormFixture } from "../testing/refresh/storm-fixture.ts";

const PROCESSES = volume({ test: 2, soak: 4 });
const CALLERS = volume({ test: 100, soak: 1000 });
const RECORDS = volume({ test: 20, soak: 200 });

let fixture: StormFixture;
beforeAll(async () => {
  fixture = await startStormFixture(PROCESSES);
});
afterAll(() => fixture.close());

it("bar#RF-1 one record, many callers in each process: one vendor call, one token", { timeout: 120_000 }, async () => {
  const [user] = await fixture.connect(1);
  const before = fixture.vendor.calls();
  const answers = await fixture.callAll([user!], CALLERS);
  const token = `token ${fixture.vendor.live(user!).accessTokens.at(-1)}`;
  expect(answers).toEqual(Array.from({ length: PROCESSES }, () => ({ [user!]: { [token]: CALLERS } })));
  expect(fixture.vendor.calls() - before).toBe(1);
});

it(
  "bar#RF-1 many records, 50 callers each in each process: one vendor call a record",
  { timeout: 180_000 },
  async () => {
    const users = await fixture.connect(RECORDS);
    const before = fixture.vendor.calls();
    const answers = await fixture.callAll(users, 50);
    const expected = Object.fromEntries(
      users.map((user) => [user, { [`token ${fixture.vendor.live(user).accessTokens.at(-1)}`]: 50 }]),
    );
    expect(answers).toEqual(Array.from({ length: PROCESSES }, () => expected));
    expect(fixture.vendor.calls() - before).toBe(RECORDS);
    for (const user of users) expect(await fixture.version(user)).toBe(2);
  },
);
