/**
 * Attacker: an authenticated client that sends requests that are cheap for it and expensive for
 * others: explanations, each of which fetches metadata from a host of its choice, and made-up
 * refresh tokens, each of which causes a call to a vendor that counts the calls of all clients of
 * the broker together. Defence: a limit per client and minute (createRateLimit).
 */
import * as rateLimitModule from "../../packages/service/src/http/rate-limit.ts";
import { describe, expect, it } from "vitest";
import { without } from "./support/outcomes.ts";
import { openScene } from "./support/actors.ts";

function withoutLimit(): void {
  without(rateLimitModule, ({ createRateLimit }) => ({
    createRateLimit: (...call) => ({ ...createRateLimit(...call), take: () => undefined }),
  }));
}

const statusesOf = (answers: readonly { readonly status: number }[]): Record<number, number> =>
  Object.fromEntries(
    [...new Set(answers.map(({ status }) => status))].map((one) => [
      one,
      answers.filter(({ status }) => status === one).length,
    ]),
  );

describe("bar#ST-8 300 explanations of hosts of the caller's choice", () => {
  async function explainAll() {
    const { fixture, backend, foe } = await openScene({ config: { limits: { explain_per_minute: 60 } } });
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, at) =>
        backend.post("/v1/explain", { issuer: `https://h${at}.example`, vendor_client_id: "mine" }),
      ),
    );
    const hosts = new Set(fixture.outbound.map(({ url }) => new URL(url).host));
    return { fixture, foe, statuses: statusesOf(answers), hosts: hosts.size };
  }

  it("ask sixty of them, and say to the rest when to come back", async () => {
    const { fixture, foe, statuses, hosts } = await explainAll();
    expect([statuses, hosts]).toEqual([{ 429: 240, 503: 60 }, 60]);
    const { headers } = fixture.exchanges.find(({ status }) => status === 429) ?? {};
    expect(Number(headers?.get("retry-after"))).toBeGreaterThan(0);
    expect((await foe.post("/v1/explain", { vendor: "honest" })).status).toBe(200);
  });

  it("twin: without the limit ask 300", async () => {
    withoutLimit();
    expect((await explainAll()).hosts).toBe(300);
  });
});

describe("bar#ST-8 made-up refresh tokens at a vendor that counts all our calls together", () => {
  const PER_MINUTE = 20;

  async function refreshAll() {
    const limits = { vendor_calls_per_minute: PER_MINUTE };
    const { honest, backend, foe } = await openScene({ config: { limits } });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) => backend.refresh({ refreshToken: `junk-${at}` }, { vendor: "honest" })),
    );
    return { foe, statuses: statusesOf(answers), calls: honest.tokenRequests.length };
  }

  it("use up the minute of the client that made them up, and leave the vendor to the others", async () => {
    const { foe, statuses, calls } = await refreshAll();
    expect([statuses, calls]).toEqual([{ 400: PER_MINUTE, 429: 80 }, PER_MINUTE]);
    const theirs = await foe.refresh({ refreshToken: "another" }, { vendor: "honest" });
    expect(theirs.body["error"]).toBe("invalid_grant");
  });

  it("twin: without the limit all reach the vendor", async () => {
    withoutLimit();
    expect((await refreshAll()).calls).toBe(100);
  });
});
