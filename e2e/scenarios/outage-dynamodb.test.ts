/**
 * Two built brokers on a table that goes away and comes back, and on a KMS that does: nothing is
 * spent, every answer comes within the deadline with Retry-After, and the same requests succeed
 * afterwards.
 */
import { createCookieJar } from "@oauth-broker/simulators";
import type { Faults } from "@oauth-broker/simulators/aws";
import { expectError, expectPage } from "@oauth-broker/oauth-core/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type AwsHarness, startAws } from "../support/aws.ts";
import { type Answer, browse, send } from "../support/platform.ts";
import { type RaceHarness, startRaceHarness } from "../support/race-harness.ts";

/** The store's own deadline is 2.5 s; a busy machine may be a little late. */
const ANSWER_MS = 4_000;

let aws: AwsHarness;
let harness: RaceHarness;
beforeAll(async () => {
  aws = await startAws();
  harness = await startRaceHarness({ processes: 2, store: aws.store, keys: aws.keys, env: aws.env });
});
afterEach(() => {
  aws.proxy.set({});
  aws.kms.fault(undefined);
});
afterAll(async () => {
  await harness.close();
  await aws.close();
});

/** The same request while the table has these faults, and without them. */
async function duringAndAfter(
  faults: Faults,
  request: () => Promise<Answer>,
): Promise<{ readonly during: Answer; readonly after: Answer }> {
  aws.proxy.set(faults);
  const startedAt = performance.now();
  const during = await request();
  expect(performance.now() - startedAt).toBeLessThan(ANSWER_MS);
  aws.proxy.set({});
  return { during, after: await request() };
}

describe.each<[string, Faults]>([
  ["is down", { down: true }],
  ["does not answer", { hangMs: 60_000 }],
  ["throttles every request", { throttleRate: 1 }],
  ["fails every request", { errorRate: 1 }],
])("a table that %s", (_, faults) => {
  it("is a 503 with Retry-After on each leg, and the flow finishes afterwards", async () => {
    const { platform, at, url } = harness;
    const pushing = await duringAndAfter(faults, async () => platform.par());
    expectError(pushing.during, 503, "temporarily_unavailable");
    expect(pushing.after.status).toBe(201);

    const pushed = await platform.push();
    const jar = createCookieJar();
    const leaving = await duringAndAfter(faults, async () => browse(at(1, platform.authorizeUrl(pushed)), jar));
    expectPage(leaving.during, 503, "store_unavailable");
    expect(leaving.during.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(leaving.after.status).toBe(303);

    const sentBack = await browse(leaving.after.headers.get("location") ?? "");
    const callback = sentBack.headers.get("location") ?? "";
    const returning = await duringAndAfter(faults, async () => browse(at(0, callback), jar));
    expectPage(returning.during, 503, "store_unavailable");
    expect(returning.after.status).toBe(303);

    const code = new URL(returning.after.headers.get("location") ?? "").searchParams.get("code") ?? "";
    const form = platform.redeemForm({ code, codeVerifier: pushed.codeVerifier });
    const redeeming = await duringAndAfter(faults, async () => platform.post("/v1/token", form, url(1)));
    expect(expectError(redeeming.during, 503, "temporarily_unavailable")).not.toHaveProperty("retry");
    expect(redeeming.after.status, redeeming.after.text).toBe(200);
  });

  it("is not ready meanwhile, and ready by itself afterwards", async () => {
    const { during, after } = await duringAndAfter(faults, async () => send(`${harness.url(0)}/readyz`));
    expect(during).toMatchObject({ status: 503, body: { reason: "store_unavailable" } });
    expect(after.status).toBe(200);
    expect((await send(`${harness.url(0)}/healthz`)).status).toBe(200);
  });
});

describe("a bad day", () => {
  it("of a table that throttles three requests in ten and fails one in twenty goes on, 99 of 100 requests", async () => {
    aws.proxy.set({ throttleRate: 0.3, errorRate: 0.05 });
    let finished = 0;
    // Four at a time: broker, engine and proxy share the machine, and the store's deadline is wall
    // time.
    for (let round = 0; round < 5; round += 1) {
      const flows = await Promise.allSettled(
        Array.from({ length: 4 }, async () => harness.platform.redeem(await harness.platform.toPlatform())),
      );
      finished += flows.filter((flow) => flow.status === "fulfilled" && flow.value.status === 200).length;
    }
    // A flow is five requests.
    expect(finished).toBeGreaterThanOrEqual(19);
    expect(aws.proxy.counts().throttled).toBeGreaterThan(20);
  });
});

describe("brokers that start while", () => {
  let before: { readonly store: string; readonly ports: readonly number[] };
  beforeAll(async () => {
    const store = await aws.newStore();
    const first = await startRaceHarness({ processes: 1, store, keys: aws.keys, env: aws.env });
    before = { store, ports: first.urls.map((url) => Number(new URL(url).port)) };
    await first.close();
  });
  const starting = async () => startRaceHarness({ processes: 1, ...before, keys: aws.keys, env: aws.env });
  const readiness = async ({ url }: RaceHarness) => send(`${url(0)}/readyz`);
  const expectRecovery = async (late: RaceHarness, reason: string, recover: () => void): Promise<void> => {
    expect((await send(`${late.url(0)}/healthz`)).status).toBe(200);
    expect(await readiness(late)).toMatchObject({ status: 503, body: { error: "temporarily_unavailable", reason } });
    expectError(await late.platform.par(), 503, "temporarily_unavailable");
    recover();
    await vi.waitUntil(async () => (await readiness(late)).status === 200, { timeout: 10_000, interval: 100 });
    expect((await late.platform.redeem(await late.platform.toPlatform())).status).toBe(200);
    await late.close();
  };

  it("the table is down stay up, say so, and work once it is back", async () => {
    aws.proxy.set({ down: true });
    await expectRecovery(await starting(), "store_unavailable", () => aws.proxy.set({}));
  });

  it.each(["unavailable", "hang", "drop"] as const)(
    "KMS has the fault %s stay up, say so, and work once it is back",
    async (kind) => {
      aws.kms.fault({ kind });
      await expectRecovery(await starting(), "kms_unavailable", () => aws.kms.fault(undefined));
    },
  );

  it("the KMS key is disabled stay up, say so, and work once it is enabled", async () => {
    aws.kms.setKeyState(aws.keyArn, "Disabled");
    await expectRecovery(await starting(), "kms_unavailable", () => aws.kms.setKeyState(aws.keyArn, "Enabled"));
  });

  it("others run without KMS affect no flow there: a process that has the keys continues", async () => {
    aws.kms.fault({ kind: "unavailable" });
    expect((await harness.platform.redeem(await harness.platform.toPlatform())).status).toBe(200);
    expect((await send(`${harness.url(0)}/readyz`)).status).toBe(200);
  });
});
