/**
 * Attacker: a vendor, or a client that names one of its own, whose token endpoint answers each
 * refresh with as much as the broker reads. Goal: fill the store, in which answers are kept for a
 * minute, for callers in other processes. Defence: a long answer is not kept (createReplayShare).
 */
import { createFakeVendor, ownerOf } from "@oauth-broker/simulators";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import * as replayShareModule from "@oauth-broker/broker/src/grants/replay-share.ts";
import { describe, expect, it } from "vitest";
import { CALLBACK, VENDOR_CLIENT } from "./support/names.ts";
import { without } from "./support/outcomes.ts";
import { createBackend, createBrowser, parameter } from "./support/actors.ts";
import { createFixture } from "./support/fixture.ts";

const HONEST = "https://honest.example";
const REFRESHES = 20;
const ANSWER_BYTES = 250_000;

/** @returns how many bytes the store has grown by, and that each refresh had its answer */
async function refreshOften(): Promise<number> {
  const vendor = createFakeVendor({
    ...VENDOR_CLIENT,
    origin: HONEST,
    redirectUri: CALLBACK,
    token: async (request, honest) => {
      const answer = await honest(request);
      if (request.form.get("grant_type") !== "refresh_token") return answer;
      return { body: { ...(answer.body as object), blob: "x".repeat(ANSWER_BYTES) } };
    },
  });
  const fixture = await createFixture({ vendors: [vendor], config: { store: "sqlite:./broker.sqlite" } });
  const stored = (): number =>
    readdirSync(fixture.folder).reduce((sum, file) => sum + statSync(join(fixture.folder, file)).size, 0);
  const backend = createBackend(fixture);
  const flow = await backend.push();
  const { url } = await createBrowser(fixture, "victim").visit(backend.startUrl(flow));
  let { body } = await backend.redeem(parameter(url, "code"), flow.codeVerifier);
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
