/**
 * Every recorded fixture is replayed by its vendor's simulator. That this can fail is shown with
 * fixtures recorded at the simulators themselves, one of them at a simulator that has changed
 * since.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Fixture, fixtureName, FORMAT, readFixtures } from "../fixtures/fixture.ts";
import { legsAt, replayFixture, type SimulatorSetup, SIMULATORS } from "../testing/replay-fixture.ts";

const RECORDED = readFixtures(fileURLToPath(new URL("./fixtures", import.meta.url)));

it("what vendors were recorded to answer is what their simulators answer", { timeout: 120_000 }, async () => {
  const differing: Record<string, string[]> = {};
  for (const { name, fixture } of RECORDED) differing[name] = await replayFixture(fixture);
  expect(differing).toEqual(Object.fromEntries(RECORDED.map(({ name }) => [name, []])));
});

/** Not a vendor's: recorded at a simulator, for the duration of a test. */
async function recordAt(setup: SimulatorSetup, app?: Fixture["app"]): Promise<Fixture> {
  const vendor = REGISTRY.get(setup.simulator.id)?.vendor;
  if (vendor === undefined) throw new Error(`${setup.simulator.id} is not in the registry`);
  const about = { vendor: vendor.id, scope: vendor.defaultScopes, ...(app === undefined ? {} : { app }) };
  try {
    return { format: FORMAT, recordedOn: "2026-11-21", ...about, legs: await legsAt(setup, vendor, about) };
  } finally {
    await setup.simulator.close();
  }
}

describe("the replay", () => {
  it.each(Object.keys(SIMULATORS))("of %s by itself differs in nothing", async (id) => {
    const folder = mkdtempSync(join(tmpdir(), "fixtures-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const recorded = await recordAt(await SIMULATORS[id]!());
    expect(recorded.legs.map(({ leg }) => leg)).toEqual(expect.arrayContaining(["callback", "code", "revoke"]));
    writeFileSync(join(folder, fixtureName(recorded)), JSON.stringify(recorded));
    const [read] = readFixtures(folder);
    expect(read).toEqual({ name: `${id}-2026-11-21.json`, fixture: recorded });
    expect(await replayFixture(read!.fixture)).toEqual([]);
  });

  it("takes an app of the kind that was recorded", async () => {
    const recorded = await recordAt(await SIMULATORS["github"]!(), { kind: "github-app" });
    expect(recorded.legs.map(({ leg }) => leg)).toContain("refresh");
    expect(await replayFixture(recorded)).toEqual([]);
    const { app: _app, ...usual } = recorded;
    expect(await replayFixture(usual)).toContain("refresh: recorded this leg, replayed no such leg");
  });

  it("says where a simulator answers otherwise: twin of the above", async () => {
    const recorded = await recordAt(await SIMULATORS["linear"]!());
    const changed = async (): Promise<SimulatorSetup> => {
      const setup = await SIMULATORS["linear"]!();
      const rewrite = ({ scope: _scope, ...answer }: Record<string, unknown>): Record<string, unknown> => ({
        ...answer,
        token_type: "user",
        expires_in: "86400",
        workspace_id: 7,
      });
      setup.simulator.faultNext("/token", { kind: "rewrite", rewrite });
      return setup;
    };
    expect(await replayFixture(recorded, { linear: changed })).toEqual([
      "code: body.expires_in: recorded number: 86400, replayed string: 86400",
      "code: body.scope: recorded string: read, replayed absent",
      "code: body.token_type: recorded string: bearer, replayed string: user",
      "code: body.workspace_id: recorded absent, replayed number",
    ]);
    const other = { ...recorded, legs: recorded.legs.map((leg) => ({ ...leg, outcome: "already" })) };
    expect((await replayFixture(other)).join("\n")).toContain("revoke: outcome: recorded already, replayed token");
  });

  it("wants a simulator, and a fixture of its format", async () => {
    const fixture: Fixture = { format: FORMAT, vendor: "airtable", recordedOn: "2026-11-21", scope: [], legs: [] };
    await expect(replayFixture(fixture)).rejects.toThrow("There is no simulator of airtable");
    const folder = mkdtempSync(join(tmpdir(), "fixtures-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "linear-2026-11-21.json"), JSON.stringify({ ...fixture, format: 2 }));
    expect(() => readFixtures(folder)).toThrow("linear-2026-11-21.json is no fixture of format 1");
    expect(readFixtures(join(folder, "absent"))).toEqual([]);
  });
});
