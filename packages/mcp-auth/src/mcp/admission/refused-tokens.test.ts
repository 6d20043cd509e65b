/**
 * Tokens tried out on `/mcp`: what they cost, which callers they keep out, and which they must not.
 */
import { OAuthError, systemTimer } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { Caller } from "../../mode.ts";
import { openRefusingVendor } from "../../testing/vendors/refusing-vendor.ts";
import { limitRefusedTokens } from "./refused-tokens.ts";

const NOW = 1_700_000_000;
const HERE = "203.0.113.9";
const ELSEWHERE = "198.51.100.7";

interface FixtureOptions {
  readonly perMinute?: number;
  /** The response of the mode's check; by default tokens that begin with `good` are valid. */
  readonly answer?: (bearer: string) => Promise<boolean>;
}

function fixture({ perMinute = 3, answer = async (bearer) => bearer.startsWith("good") }: FixtureOptions = {}) {
  const now = fixedClock(NOW);
  const asked: string[] = [];
  const authenticate = limitRefusedTokens(
    async (bearer) => {
      asked.push(bearer);
      return (await answer(bearer)) ? ({ user: bearer } as Caller) : undefined;
    },
    { refusedTokensPerMinute: perMinute, now, timer: systemTimer },
  );
  /** `good`, `refused`, or the error's code. */
  const present = async (bearer: string, address = HERE): Promise<string> =>
    authenticate(bearer, address).then(
      (caller) => (caller === undefined ? "refused" : "good"),
      (error: unknown) => (error as OAuthError).code,
    );
  return { authenticate, now, asked, present };
}

const junk = (count: number, name = "junk"): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);

/** One after the other. */
async function presentAll(present: (bearer: string) => Promise<string>, bearers: readonly string[]): Promise<string[]> {
  const outcomes: string[] = [];
  for (const bearer of bearers) outcomes.push(await present(bearer));
  return outcomes;
}

describe("bar#ST-8 tokens that are refused", () => {
  it("end at the limit, and the rest is not checked (#11)", async () => {
    const { present, asked, authenticate } = fixture();
    expect(await presentAll(present, junk(5))).toEqual(["refused", "refused", "refused", "slow_down", "slow_down"]);
    expect(asked).toEqual(junk(3));
    await expect(authenticate("another", HERE)).rejects.toMatchObject({ status: 429, retryAfterSeconds: 60 });
  });

  it("are as few when all come at the same moment (#11)", async () => {
    const { present, asked } = fixture();
    const outcomes = await Promise.all(junk(500).map((bearer) => present(bearer)));
    expect(asked).toEqual(junk(3));
    expect(outcomes.filter((outcome) => outcome === "refused")).toHaveLength(3);
    expect(outcomes.filter((outcome) => outcome === "slow_down")).toHaveLength(497);
  });

  it("count once each: a client that repeats its dead token gets 401 every time", async () => {
    const { present } = fixture();
    const dead = Array.from({ length: 20 }, () => "dead");
    expect(new Set(await presentAll(present, dead))).toEqual(new Set(["refused"]));
    expect(await presentAll(present, junk(3))).toEqual(["refused", "refused", "slow_down"]);
    expect(await present("dead")).toBe("refused");
  });

  it("are forgotten after a minute, and another address is not affected", async () => {
    const { present, now } = fixture();
    await presentAll(present, junk(4));
    expect(await present("junk-9", ELSEWHERE)).toBe("refused");
    expect(await present("good", ELSEWHERE)).toBe("good");
    now.advance(59);
    expect(await present("junk-4")).toBe("slow_down");
    now.advance(1);
    expect(await present("junk-4")).toBe("refused");
  });

  it("delay no token that was valid here, and every other one (#11)", async () => {
    const { present } = fixture();
    expect(await present("good-old")).toBe("good");
    await presentAll(present, junk(4));
    expect(await present("good-old")).toBe("good");
    expect(await present("good-new")).toBe("slow_down");
  });

  it("of one address do not end the same token of another, which waits for its own outcome", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { present } = fixture({ perMinute: 1, answer: () => promise });
    const first = present("junk");
    const [waiting, elsewhere] = [present("t"), present("t", ELSEWHERE)];
    resolve(false);
    expect(await Promise.all([first, waiting, elsewhere])).toEqual(["refused", "slow_down", "refused"]);
  });

  it("count when they had been good", async () => {
    const live = new Set(["t1", "t2", "t3", "t4"]);
    const { present } = fixture({ answer: async (bearer) => live.has(bearer) });
    await presentAll(present, [...live]);
    live.clear();
    expect(await presentAll(present, ["t1", "t2", "t3", "new"])).toEqual([
      "refused",
      "refused",
      "refused",
      "slow_down",
    ]);
  });

  it("do not include those that could not be checked", async () => {
    const down = async (): Promise<never> => {
      throw new OAuthError("temporarily_unavailable", "Down");
    };
    const { present } = fixture({ answer: down });
    expect(new Set(await presentAll(present, junk(5)))).toEqual(new Set(["temporarily_unavailable"]));
  });

  it("include those with an invalid vendor response, each time", async () => {
    const wrong = async (): Promise<never> => {
      throw new OAuthError("vendor_response_invalid", "Wrong");
    };
    const { present, asked } = fixture({ answer: wrong });
    expect((await presentAll(present, ["t", "t", "t", "t"])).at(-1)).toBe("slow_down");
    expect(asked).toHaveLength(3);
  });

  it("are not limited with 0", async () => {
    const { present } = fixture({ perMinute: 0 });
    expect(new Set(await presentAll(present, junk(300)))).toEqual(new Set(["refused"]));
  });
});

describe("tokens that are good", () => {
  it("all pass when more of them than the limit come at the same moment", async () => {
    const { present } = fixture();
    const outcomes = await Promise.all(junk(200, "good").map((bearer) => present(bearer)));
    expect(new Set(outcomes)).toEqual(new Set(["good"]));
  });

  it("are checked once for a burst of the same unknown token, then by the mode's own cache", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { present, asked } = fixture({ answer: () => promise });
    const burst = Promise.all(Array.from({ length: 2_000 }, () => present("good")));
    await Promise.resolve();
    expect(asked).toEqual(["good"]);
    resolve(true);
    expect(new Set(await burst)).toEqual(new Set(["good"]));
  });
});

describe("what is under way at the same time", () => {
  it("is bounded over all addresses; those beyond wait, and beyond those it is 503 (#11)", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { present, asked, authenticate } = fixture({ perMinute: 0, answer: () => promise });
    const answers = Array.from({ length: 1_256 }, (_, index) => present(`good-${index}`, `10.0.${index}`));
    await Promise.resolve();
    expect(asked).toHaveLength(256);
    await expect(authenticate("one more", HERE)).rejects.toMatchObject({
      status: 503,
      retryAfterSeconds: 2,
      extras: { reason: "tokens_under_way" },
    });
    resolve(true);
    expect(new Set(await Promise.all(answers))).toEqual(new Set(["good"]));
    expect(asked).toHaveLength(1_256);
  });
});

describe("the server in pre-registered mode", () => {
  it("bar#ST-8 calls the vendor 120 times for 1,001 forged tokens (#11)", async () => {
    const { present, asked, close } = await openRefusingVendor();
    const statuses = await Promise.all(junk(1_001).map((bearer) => present(bearer)));
    expect(asked()).toBe(120);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.filter((status) => status === 401)).toHaveLength(120);
    expect(await present("one-more")).toBe(429);
    await close();
  });
});
