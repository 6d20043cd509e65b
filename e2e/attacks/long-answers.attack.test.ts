/**
 * Attacker: a vendor, or a client that names one of its own, whose token endpoint answers each
 * refresh with as much as the broker reads. Goal: fill the store, in which answers are kept for a
 * minute, for callers in other processes. Defence: a long answer is not kept (createReplayShare).
 */
import { type FakeVendorOptions, ownerOf } from "@oauth-broker/simulators";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import * as replayShareModule from "@oauth-broker/broker/src/grants/replay-share.ts";
import { describe, expect, it } from "vitest";
import { without } from "./support/outcomes.ts";
import { openScene } from "./support/actors.ts";

const REFRESHES = 20;
const ANSWER_BYTES = 250_000;

/** @returns how many bytes the store has grown by, and that each refresh had its answer */
async function refreshOften(): Promise<number> {
  const token: FakeVendorOptions["token"] = async (request, honest) => {
    const answer = await honest(request);
    if (request.form.get("grant_type") !== "refresh_token") return answer;
    return { body: { ...(answer.body as object), blob: "x".repeat(ANSWER_BYTES) } };
  };
  const config = { store: "sqlite:./broker.sqlite" };
  const { fixture, backend, victim } = await openScene({ vendor: { token }, config });
  const stored = (): number =>
    readdirSync(fixture.folder).reduce((sum, file) => sum + statSync(join(fixture.folder, file)).size, 0);
  let body: Record<string, unknown> = (await backend.connect(victim)).body;
  const before = stored();
  for (let count = 0; count < REFRESHES; count += 1) {
    const { refresh_token, connection } = body as Record<string, string>;
    ({ body } = await backend.post("/v1/token", { grant_type: "refresh_token", refresh_token, connection }));
    expect(ownerOf(body["access_token"])).toBe("victim");
  }
  return stored() - before;
}

describe("a vendor answers each refresh with 250 KB", () => {
  it("and the store keeps the lease of each, and no answer", async () => {
    expect(await refreshOften()).toBeLessThan(REFRESHES * 20_000);
  });

  it("twin: with every answer kept, the store grows by all of them", async () => {
    without(replayShareModule, () => ({ createReplayShare: () => ({ take: () => true }) }));
    expect(await refreshOften()).toBeGreaterThan(REFRESHES * ANSWER_BYTES);
  });
});
