/** A store that goes away and comes back: every leg says so, spends nothing, and goes on afterwards. */
import { OAuthError } from "@oauth-broker/oauth-core";
import { expect, it, onTestFinished, vi } from "vitest";
import { type TestBroker, testBroker } from "../testing/test-broker.ts";

/** @returns brings the store back */
function takeStoreAway({ deps: { records } }: Pick<TestBroker, "deps">): () => void {
  const there = { ...records };
  const away = async (): Promise<never> => {
    throw new OAuthError("temporarily_unavailable", "down", { reason: "store_unavailable", retryAfterSeconds: 5 });
  };
  for (const name of Object.keys(records)) if (name !== "close") Object.assign(records, { [name]: away });
  return () => void Object.assign(records, there);
}

it("a store that is away is a 503 with Retry-After on each leg, which works afterwards", async () => {
  const broker = await testBroker();
  onTestFinished(() => broker.close());
  const pushed = broker.authorizePath((await broker.push()).body["request_uri"]);
  const atVendor = await broker.start();
  const code = await broker.park();
  const legs = {
    push: () => broker.push(),
    authorize: () => broker.get(pushed),
    callback: () => broker.callback({ state: atVendor.state, code: "c" }, atVendor.cookie),
    token: () => broker.redeem(code),
    readiness: () => broker.get("/readyz"),
  };
  const bringBack = takeStoreAway(broker);
  for (const [leg, ask] of Object.entries(legs)) {
    const { response } = await ask();
    expect([leg, response.status, response.headers.get("retry-after")]).toEqual([leg, 503, "5"]);
  }
  expect((await broker.get("/healthz")).response.status).toBe(200);
  expect((await broker.redeem(code)).body).not.toHaveProperty("retry");
  // Nothing went to the vendor.
  expect(broker.seen).toEqual([]);

  bringBack();
  const after: [string, number][] = [];
  for (const [leg, ask] of Object.entries(legs)) after.push([leg, (await ask()).response.status]);
  const fine = [
    ["push", 201],
    ["authorize", 303],
    ["callback", 303],
    ["token", 200],
    ["readiness", 200],
  ];
  expect(after).toEqual(fine);
});

it("keys that cannot be loaded are said at growing distances, for each cause, and once they are back", async () => {
  const broker = await testBroker();
  const because = (detail: string) => new OAuthError("temporarily_unavailable", "down", { detail });
  const load = vi.spyOn(broker.deps.keyset, "load").mockRejectedValue(because("away"));
  for (let tries = 0; tries < 10; tries++) await broker.loadKeys();
  load.mockRejectedValue(because("locked"));
  for (let tries = 0; tries < 3; tries++) await broker.loadKeys();
  load.mockRestore();
  for (let tries = 0; tries < 2; tries++) await broker.loadKeys();
  const lines = broker.lines
    .filter((line) => line.includes('"keyset_'))
    .map((line) => JSON.parse(line) as Record<"event" | "detail" | "count", unknown>);
  expect(lines.map(({ event, detail, count }) => [event, detail, count])).toEqual([
    ...[1, 2, 4, 8].map((count) => ["keyset_unavailable", "away", count]),
    ["keyset_unavailable", "locked", 11],
    ["keyset_available", undefined, 13],
  ]);
});
