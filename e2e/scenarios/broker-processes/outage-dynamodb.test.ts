/**
 * Two built brokers on a table that goes away and comes back, and on a KMS that does: nothing is
 * spent, every answer comes within the deadline with Retry-After, and the same requests succeed
 * afterwards.
 */
import { createCookieJar } from "@oauth-broker/simulators";
import type { Faults } from "@oauth-broker/simulators/aws";
import { expectError, expectPage, soonerThan } from "@oauth-broker/oauth-core/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import { type Answer, browse, send } from "../../support/broker/platform.ts";
import { type RaceHarness, startRaceHarness } from "../../support/races/harness.ts";

/** When a table would answer that hangs. The store's own deadline is 2.5 s. */
const HANG_MS = 60_000;

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

/**
 * The same requests while the table has these faults, all at once: each waits for the store's
 * deadline. Then each again, without faults.
 */
async function duringAndAfter<const Leg extends string>(
  faults: Faults,
  requests: Readonly<Record<Leg, () => Promise<Answer>>>,
): Promise<Readonly<Record<Leg, { readonly during: Answer; readonly after: Answer }>>> {
  const legs = Object.entries(requests) as [Leg, () => Promise<Answer>][];
  aws.proxy.set(faults);
  const during = await soonerThan(HANG_MS, Promise.all(legs.map(([, request]) => request())));
  aws.proxy.set({});
  const answers = legs.map(async ([leg, request], index) => [leg, { during: during[index], after: await request() }]);
  return Object.fromEntries(await Promise.all(answers)) as Awaited<ReturnType<typeof duringAndAfter<Leg>>>;
}

describe.each<[string, Faults]>([
  ["is down", { down: true }],
  ["does not answer", { hangMs: HANG_MS }],
  ["throttles every request", { throttleRate: 1 }],
  ["fails every request", { errorRate: 1 }],
])("a table that %s", (_, faults) => {
  it("is a 503 with Retry-After on each leg, and the flow finishes afterwards", async () => {
    const { platform, at, url } = harness;
    const [pushed, returned, finished] = await Promise.all([
      platform.push(),
      platform.toCallback(),
      platform.toPlatform(),
    ]);
    const jar = createCookieJar();
    const { pushing, leaving, returning, redeeming, readiness } = await duringAndAfter(faults, {
      pushing: async () => platform.par(),
      leaving: async () => browse(at(1, platform.authorizeUrl(pushed)), jar),
      returning: async () => browse(at(0, returned.callback), returned.jar),
      redeeming: async () => platform.post("/v1/token", platform.redeemForm(finished), url(1)),
      readiness: async () => send(`${url(0)}/readyz`),
    });
    expectError(pushing.during, 503, "temporarily_unavailable");
    expect(pushing.after.status).toBe(201);
    expectPage(leaving.during, 503, "store_unavailable");
    expect(leaving.during.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(leaving.after.status).toBe(303);
    expectPage(returning.during, 503, "store_unavailable");
    expect(returning.after.status).toBe(303);
    expect(expectError(redeeming.during, 503, "temporarily_unavailable")).not.toHaveProperty("retry");
    expect(redeeming.after.status, redeeming.after.text).toBe(200);
    expect(readiness.during).toMatchObject({ status: 503, body: { reason: "store_unavailable" } });
    expect(readiness.after.status).toBe(200);
    expect((await send(`${url(0)}/healthz`)).status).toBe(200);

    // The flows that met the faults on an earlier leg go to their end too.
    const sentBack = await browse(leaving.after.headers.get("location") ?? "");
    const arrived = await browse(at(0, sentBack.headers.get("location") ?? ""), jar);
    for (const [{ codeVerifier }, answer] of [
      [pushed, arrived],
      [returned, returning.after],
    ] as const) {
      const code = new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
      const redeemed = await platform.redeem({ code, codeVerifier });
      expect(redeemed.status, redeemed.text).toBe(200);
    }
  });
});

describe("a bad day", () => {
  it("of a table that often throttles or fails: 99 of 100 requests succeed", async () => {
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
    // At once: those that need what is down wait for their deadline.
    const [health, ready, pushed] = await Promise.all([
      send(`${late.url(0)}/healthz`),
      readiness(late),
      late.platform.par(),
    ]);
    expect(health.status).toBe(200);
    expect(ready).toMatchObject({ status: 503, body: { error: "temporarily_unavailable", reason } });
    expectError(pushed, 503, "temporarily_unavailable");
    recover();
    await expect.poll(async () => (await readiness(late)).status, { interval: 100 }).toBe(200);
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
