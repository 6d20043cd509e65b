/** Everybody at once: many callers and many tokens, over four processes on one table. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type StormBench, startStormBench } from "../testing/storm-bench.ts";

let bench: StormBench;
beforeAll(async () => {
  bench = await startStormBench(4);
});
afterAll(() => bench.close());

it(
  "bar#RF-1 1 record, 1,000 callers in each of 4 processes: 1 vendor call, one token",
  { timeout: 120_000 },
  async () => {
    const [user] = await bench.connect(1);
    const before = bench.vendor.calls();
    const answers = await bench.callAll([user!], 1000);
    const token = `token ${bench.vendor.live(user!).accessTokens.at(-1)}`;
    expect(answers).toEqual(Array.from({ length: 4 }, () => ({ [user!]: { [token]: 1000 } })));
    expect(bench.vendor.calls() - before).toBe(1);
  },
);

it("bar#RF-1 200 records, 50 callers each in each of 4 processes: 200 vendor calls", { timeout: 180_000 }, async () => {
  const users = await bench.connect(200);
  const before = bench.vendor.calls();
  const answers = await bench.callAll(users, 50);
  const expected = Object.fromEntries(
    users.map((user) => [user, { [`token ${bench.vendor.live(user).accessTokens.at(-1)}`]: 50 }]),
  );
  expect(answers).toEqual(Array.from({ length: 4 }, () => expected));
  expect(bench.vendor.calls() - before).toBe(200);
  for (const user of users) expect(await bench.version(user)).toBe(2);
});
