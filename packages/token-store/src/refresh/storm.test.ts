/** Many callers and many tokens at once, over four processes on one table. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type StormFixture, startStormFixture } from "../testing/storm-fixture.ts";

let fixture: StormFixture;
beforeAll(async () => {
  fixture = await startStormFixture(4);
});
afterAll(() => fixture.close());

it(
  "bar#RF-1 1 record, 1,000 callers in each of 4 processes: 1 vendor call, one token",
  { timeout: 120_000 },
  async () => {
    const [user] = await fixture.connect(1);
    const before = fixture.vendor.calls();
    const answers = await fixture.callAll([user!], 1000);
    const token = `token ${fixture.vendor.live(user!).accessTokens.at(-1)}`;
    expect(answers).toEqual(Array.from({ length: 4 }, () => ({ [user!]: { [token]: 1000 } })));
    expect(fixture.vendor.calls() - before).toBe(1);
  },
);

it("bar#RF-1 200 records, 50 callers each in each of 4 processes: 200 vendor calls", { timeout: 180_000 }, async () => {
  const users = await fixture.connect(200);
  const before = fixture.vendor.calls();
  const answers = await fixture.callAll(users, 50);
  const expected = Object.fromEntries(
    users.map((user) => [user, { [`token ${fixture.vendor.live(user).accessTokens.at(-1)}`]: 50 }]),
  );
  expect(answers).toEqual(Array.from({ length: 4 }, () => expected));
  expect(fixture.vendor.calls() - before).toBe(200);
  for (const user of users) expect(await fixture.version(user)).toBe(2);
});
