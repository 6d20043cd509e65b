import { spawn } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { patience, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { openTokenStore } from "../config.ts";
import { sqliteTokenRows } from "../storage/sqlite/token-rows.ts";
import { ISSUER, keyOf, NOW, olderRow, TOKENS, VENDOR } from "../testing/cli-fixture.ts";
import { stopProcess } from "../testing/processes.ts";
import { rowKeyOf } from "../tokens/token-attributes.ts";
import { runCommandLine } from "./run.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const ISSUERS = ["--issuer", `${VENDOR}=${ISSUER}`];

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  { isTTY = false, signal = new AbortController().signal } = {},
): Promise<Ran> {
  let [stdout, stderr] = ["", ""];
  const code = await runCommandLine(args, {
    stdout: { isTTY, write: (text) => (stdout += text) },
    stderr: { isTTY, columns: 120, write: (text) => (stderr += text) },
    signal,
    environment: { DATA_DIR: folder, ...environment },
  });
  return { code, stdout, stderr };
}

/** A file that servers in mode bridge and older builds have used. */
async function fill({ older }: { readonly older: number }): Promise<void> {
  const store = await openTokenStore({ environment: { DATA_DIR: folder, TOKEN_ENCRYPTION_MODE: "bridge" } });
  await store.put(keyOf("served"), TOKENS);
  await store.close();
  const rows = sqliteTokenRows({ path: join(folder, "tokens.sqlite") });
  for (let i = 0; i < older; i += 1) {
    await rows.change(rowKeyOf({ user: `u${i}`, vendor: VENDOR }), { set: olderRow(`u${i}`) }, {});
  }
  // As if the store had ended long ago.
  await rows.change({ pk: "TOKEN_STORE", sk: "OLDER_READERS" }, { set: { until: NOW } }, {});
  await rows.close();
}

const lastLine = (text: string): Record<string, unknown> =>
  JSON.parse(text.trimEnd().split("\n").at(-1) ?? "") as Record<string, unknown>;

describe("token-store", () => {
  it("from plaintext to ciphertext: audit, migrate, audit, strip, audit", async () => {
    await fill({ older: 20 });
    const before = await run(["audit"]);
    expect(before.code).toBe(3);
    const counts = { plaintext_only: 20, both: 1, other: 1 };
    expect(lastLine(before.stdout)).toMatchObject({ event: "result", counts });
    const migrated = await run(["migrate", ...ISSUERS, "--rate", "10000"]);
    expect(migrated.code).toBe(0);
    expect(lastLine(migrated.stdout)).toMatchObject({ command: "migrate", ending: "done", counts: { sealed: 20 } });
    expect((await run(["audit"])).code).toBe(0);
    expect((await run(["audit", "--verify", ...ISSUERS, "--rate", "10000"])).code).toBe(0);
    const bridge = await run(["strip", ...ISSUERS], { TOKEN_ENCRYPTION_MODE: "bridge" });
    expect(bridge).toMatchObject({ code: 1, stderr: expect.stringContaining("TOKEN_ENCRYPTION_MODE=encrypted") });
    const stripped = await run(["strip", ...ISSUERS, "--rate", "10000"], { TOKEN_ENCRYPTION_MODE: "encrypted" });
    expect(stripped).toMatchObject({ code: 0, stderr: "" });
    expect(lastLine(stripped.stdout)).toMatchObject({ counts: { stripped: 21 } });
    const rows = sqliteTokenRows({ path: join(folder, "tokens.sqlite") });
    expect(JSON.stringify(await rows.scan({ limit: 100 }))).not.toContain("plain-");
    await rows.close();
  });

  it("bar#TS-15 killed by SIGKILL in the midst of the rows, it goes on when it is run again", async () => {
    await fill({ older: 120 });
    const args = ["migrate", ...ISSUERS, "--checkpoint", join(folder, "checkpoint")];
    const env = { ...process.env, DATA_DIR: folder };
    const child = spawn(process.execPath, [MAIN, ...args, "--rate", "40"], { env, stdio: "ignore" });
    const rows = sqliteTokenRows({ path: join(folder, "tokens.sqlite") });
    const sealed = async (): Promise<number> =>
      (await rows.scan({ limit: 300 })).rows.filter(({ attributes }) => "data_key" in attributes).length;
    await expect.poll(sealed, { timeout: patience(5_000) }).toBeGreaterThan(1);
    await stopProcess(child, "SIGKILL");
    expect(await sealed()).toBeLessThan(120);
    await rows.close();
    expect(lastLine((await run([...args, "--rate", "10000"])).stdout)).toMatchObject({ ending: "done" });
    const after = lastLine((await run(["audit", "--verify", ...ISSUERS, "--rate", "10000"])).stdout);
    expect(after).toMatchObject({ counts: { plaintext_only: 0, both: 121, broken: 0 } });
  });

  it("shows text and a bar on a terminal, JSON there only with --json", async () => {
    await fill({ older: 2 });
    const shown = await run(["audit", "--by-vendor"], {}, { isTTY: true });
    expect(shown.stdout).toContain("audit: table tokens\n");
    expect(shown.stdout).toMatch(/^ {2}plaintext only +2$/m);
    expect(shown.stdout).toContain(`vendor ${VENDOR}\n`);
    expect(shown.stdout).toContain("token-store migrate --issuer example=ISSUER");
    expect(shown.stderr).toContain("audit: counting");
    const lines = await run(["audit", "--json"], {}, { isTTY: true });
    expect(lines.stderr).toBe("");
    for (const line of lines.stdout.trimEnd().split("\n")) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  it("prints its help and its version", async () => {
    const said = { code: 0, stderr: "" };
    expect(await run(["--help"])).toEqual({ ...said, stdout: expect.stringMatching(/^Usage: token-store .*\n/) });
    expect(await run(["--version"])).toEqual({ ...said, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it("ends with 2 where the command line is not understood", async () => {
    expect(await run(["strp"])).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("'strp'") });
  });

  it("names every problem of the settings at once", async () => {
    const stderr = expect.stringMatching(/DB_TABLE_REGION is needed.*not a table's name/);
    expect(await run(["audit"], { DB_TABLE_NAME: "a table" })).toMatchObject({ code: 1, stderr });
  });

  it("does not take a folder without a store for an empty one, and makes none", async () => {
    const stderr = expect.stringContaining(`there is no file ${join(folder, "tokens.sqlite")}`);
    expect(await run(["audit"])).toMatchObject({ code: 1, stderr });
    await expect(readFile(join(folder, "tokens.sqlite"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("makes no key where that of the store is lost, and says so", async () => {
    await fill({ older: 1 });
    await rm(join(folder, "tokens.sqlite.key"));
    for (const words of [["audit", "--verify"], ["migrate", "--dry-run"], ["migrate"], ["strip"]]) {
      const stderr = expect.stringContaining("tokens.sqlite.key is missing: restore it");
      expect(await run([...words, ...ISSUERS])).toMatchObject({ code: 1, stderr });
    }
    expect(await readdir(folder)).not.toContain("tokens.sqlite.key");
  });

  it("refuses to seal without a key", async () => {
    const environment = { DB_TABLE_NAME: "tokens", DB_TABLE_REGION: "eu-west-1", AWS_ENDPOINT_URL_DYNAMODB: "" };
    const ran = await run(["migrate", ...ISSUERS], { ...environment, TOKEN_ENCRYPTION_MODE: "encrypted" });
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining("TOKEN_ENCRYPTION_KMS_KEY_ID") });
  });

  it("stopped before it began, says how to go on", async () => {
    await fill({ older: 2 });
    for (const [name, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
      const ran = await run(["migrate", ...ISSUERS], {}, { signal: AbortSignal.abort(name) });
      expect(ran).toMatchObject({ code, stderr: expect.stringContaining("run it again") });
    }
  });
});
