/**
 * Attacker: chance, or a page that opens two sign-ins at once: one user, one browser, two tabs, two
 * vendors, and answers in any order or in each other's flow. Damage: a code of one vendor would be
 * sent to the other. Defence: each flow has its own state, cookie and record, and the answer must
 * name the vendor of its flow (requireIssuer).
 */
import type { RecordStore } from "@oauth-broker/oauth-core";
import type { FakeVendor } from "@oauth-broker/simulators";
import { volume } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { withoutIssuer } from "./support/outcomes.ts";
import {
  atCallback,
  createBackend,
  createBrowser,
  type Flow,
  parameter,
  type Visit,
  withParameters,
} from "./support/actors.ts";
import { createScheduler, type Event } from "../simulation/world/scheduler.ts";
import { createSeeded, type Seeded } from "../support/seeded.ts";
import { ownerOfCode, vendorAt } from "./support/names.ts";
import { createFixture } from "./support/fixture.ts";

/** What can go wrong between the vendors and the callback. */
const CROSSINGS = {
  nothing: (one: URL, two: URL) => [one, two],
  states: (one: URL, two: URL) => [take(one, two, "state"), take(two, one, "state")],
  codes: (one: URL, two: URL) => [take(one, two, "code"), take(two, one, "code")],
  issuers: (one: URL, two: URL) => [take(one, two, "iss"), take(two, one, "iss")],
  "first twice": (one: URL) => [one, one],
} satisfies Record<string, (one: URL, two: URL) => URL[]>;
type Crossing = keyof typeof CROSSINGS;

function take(url: URL, from: URL, name: string): URL {
  return withParameters(url.href, { [name]: parameter(from, name) });
}

/**
 * From now on every read and write of the store waits for its turn, before and after. Each wait is an event of the
 * simulator's scheduler, and which one comes next is left to chance: sooner or later every order.
 *
 * @returns gives turns until the work has ended, and returns their order as one text: `a` for the
 *   first record, `b` for the next
 */
function scheduleStore(records: RecordStore, seeded: Seeded): (work: () => Promise<unknown>) => Promise<string> {
  let isRunning = false;
  let order: Event["touch"][] = [];
  const scheduler = createScheduler((due) => {
    const next = seeded.pick(due);
    order.push(next.touch);
    return next;
  });
  const turn = async (process: string, place: string): Promise<void> => {
    if (isRunning) await scheduler.wait(0, { process, place, isRead: false });
  };
  const { get, create, advance } = records;
  Object.assign(records, {
    get: async (...call: Parameters<RecordStore["get"]>) => {
      await turn(call[0].id, "get");
      const found = await get(...call);
      await turn(call[0].id, "got");
      return found;
    },
    create: async (...call: Parameters<RecordStore["create"]>) => {
      await turn(call[0].key.id, "create");
      return create(...call);
    },
    advance: async (...call: Parameters<RecordStore["advance"]>) => {
      await turn(call[0].id, call[2].stage);
      const moved = await advance(...call);
      await turn(call[0].id, `${call[2].stage}!`);
      return moved;
    },
  });
  return async (work) => {
    [isRunning, order] = [true, []];
    const ended = work().finally(() => (isRunning = false));
    ended.catch(() => undefined);
    await scheduler.run(
      () => !isRunning,
      () => undefined,
    );
    await ended;
    const names = [...new Set(order.map((one) => one?.process))];
    return order.map((one) => `${"abcdef"[names.indexOf(one?.process)]}:${one?.place}`).join(" ");
  };
}

interface Round {
  readonly crossing: Crossing;
  readonly order: string;
  /**
   * By tab: the vendor whose tokens it got; `swapped` for those of the other; `refused` by the
   * vendor; undefined for a page.
   */
  readonly tabs: readonly (string | undefined)[];
}

async function rounds(count: number, seed: number, crossings: readonly Crossing[]) {
  const seeded = createSeeded(seed);
  const vendors = ["honest", "second"].map((name) => vendorAt(`https://${name}.example`));
  const fixture = await createFixture({ vendors });
  const interleaved = scheduleStore(fixture.broker.deps.records, seeded);
  const backend = createBackend(fixture);

  const round = async (): Promise<Round> => {
    const crossing = seeded.pick(crossings);
    const browser = createBrowser(fixture, "victim");
    const flows: Flow[] = [];
    const answers: URL[] = [];
    const results: (string | undefined)[] = [];
    const start = async (tab: number, vendor: string): Promise<void> => {
      ({ flow: flows[tab], url: answers[tab] } = await backend.start(browser, atCallback, { vendor }));
    };
    const finish = async (tab: number, url: URL): Promise<void> => {
      results[tab] = await tokensAt(await browser.visit(url));
    };
    const tokensAt = async ({ page, url }: Visit): Promise<string | undefined> => {
      if (page !== undefined) return undefined;
      const flow = flows.find(({ state }) => state === parameter(url, "state"));
      const { status, body } = await backend.redeem(parameter(url, "code"), flow?.codeVerifier);
      if (status !== 200) return "refused";
      const vendor = vendors.find(({ tokens }) => tokens.includes(String(body["access_token"])));
      return vendor?.origin === `https://${String(body["vendor"])}.example` ? String(body["vendor"]) : "swapped";
    };
    const order = [await interleaved(() => Promise.all([start(0, "honest"), start(1, "second")]))];
    const crossed = CROSSINGS[crossing](answers[0]!, answers[1]!);
    order.push(await interleaved(() => Promise.all(crossed.map(async (url, tab) => finish(tab, url)))));
    return { crossing, order: order.join(" | "), tabs: results };
  };

  const played: Round[] = [];
  for (let number = 0; number < count; number += 1) played.push(await round());
  return { played, vendors };
}

function foreignCodesAt(vendors: readonly FakeVendor[]): string[] {
  return vendors.flatMap(({ tokenRequests, codes }) =>
    tokenRequests.map(({ form }) => form.get("code") ?? "").filter((code) => !codes.includes(code)),
  );
}

const INTERLEAVINGS = volume({ test: 60, soak: 600 });

// fast-check's scheduler does the same; e2e avoids the dependency.
it("X-10 in many interleavings of two tabs, neither tab gets the tokens of the other", async () => {
  const { played, vendors } = await rounds(INTERLEAVINGS, 10, ["nothing", "states", "issuers", "first twice"]);
  const expected: Partial<Record<Crossing, (tabs: Round["tabs"]) => boolean>> = {
    nothing: ([one, two]) => one === "honest" && two === "second",
    states: ([one, two]) => one === undefined && two === undefined,
    issuers: ([one, two]) => one === undefined && two === undefined,
    "first twice": (tabs) => tabs.filter((tab) => tab === "honest").length === 1 && tabs.includes(undefined),
  };
  expect(played.filter(({ crossing, tabs }) => expected[crossing]?.(tabs) !== true)).toEqual([]);
  expect(foreignCodesAt(vendors)).toEqual([]);
  expect(new Set(played.map(({ order }) => order)).size).toBeGreaterThan(INTERLEAVINGS / 2);
});

// The test swaps code and `iss` separately; in a browser they travel together. The vendor's own
// PKCE check ends the attack.
it("X-10 a code beside the other vendor's iss is useless where it arrives", async () => {
  const { played, vendors } = await rounds(10, 11, ["codes"]);
  expect(played.flatMap(({ tabs }) => tabs).filter((tab) => tab !== "refused")).toEqual([]);
  expect(vendors.flatMap(({ tokens }) => tokens)).toEqual([]);
});

it("X-10 twin: without requireIssuer crossed answers bring each vendor the other's codes", async () => {
  withoutIssuer();
  const { vendors } = await rounds(10, 12, ["states"]);
  const foreign = foreignCodesAt(vendors);
  expect(foreign.length).toBe(20);
  expect(ownerOfCode(foreign[0])).toBe("victim");
});
