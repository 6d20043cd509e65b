import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "./clock.ts";
import type { Command } from "./cli.ts";
import type { Config } from "./config.ts";
import { folderOf, load, MINIMAL } from "./config/testing/config-file.ts";
import { runOperatorCommand } from "./operator.ts";
import { openStores } from "./stores.ts";

type OperatorCommand = Exclude<Command, { name: "serve" }>;

async function run(command: OperatorCommand, config: Config) {
  const write = { stdout: vi.spyOn(process.stdout, "write"), stderr: vi.spyOn(process.stderr, "write") };
  for (const spy of Object.values(write)) {
    spy.mockReturnValue(true);
    onTestFinished(() => spy.mockRestore());
  }
  const text = (spy: (typeof write)["stdout"]): string => spy.mock.calls.map(([chunk]) => String(chunk)).join("");
  const code = await runOperatorCommand(command, () => config);
  return { code, stdout: text(write.stdout), stderr: text(write.stderr) };
}

const COMMANDS: readonly OperatorCommand[] = [
  { name: "flow", flowId: "A".repeat(22), json: false },
  { name: "keys-list" },
  { name: "keys-rotate" },
];

describe("a command on the store", () => {
  it.each(COMMANDS)("$name makes none where there is none yet", async (command) => {
    const folder = folderOf();
    const path = join(folder, "data", "broker.sqlite");
    const config = load({ ...MINIMAL, store: `sqlite:${path}` });
    const { code, stdout, stderr } = await run(command, config);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: "",
      stderr: `There is no store at ${path} yet: start the broker once\n`,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("reads the one that a broker has made", async () => {
    const path = join(folderOf(), "broker.sqlite");
    const config = load({ ...MINIMAL, store: `sqlite:${path}` });
    const stores = await openStores(config, systemClock);
    await stores.records.ping();
    await stores.close();
    expect(existsSync(path)).toBe(true);
    const { code, stderr } = await run({ name: "flow", flowId: "A".repeat(22), json: false }, config);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "No such flow. Timelines are kept for an hour.\n" });
  });
});
