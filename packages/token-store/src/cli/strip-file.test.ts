/** No byte of a token is left in the files of a SQLite store once `strip` has ended. Twins: one defence off each. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Secret } from "@oauth-broker/oauth-core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CliBench } from "../testing/cli-bench.ts";
import type { Result } from "./report.ts";

const TOKENS = {
  // Longer than a page of the file: the rest lies in pages of its own.
  accessToken: new Secret(`plain-at-${"a".repeat(9000)}`),
  refreshToken: new Secret("plain-rt"),
  tokenType: "Bearer",
};

let folder: string;
let path: string;
let closing: (() => unknown)[] = [];
beforeEach(() => {
  vi.resetModules();
  folder = mkdtempSync(join(tmpdir(), "strip-"));
  path = join(folder, "tokens.sqlite");
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  rmSync(folder, { recursive: true });
});

/** Which of the files hold the beginning of a token. */
function filesWithTokens(): string[] {
  return readdirSync(folder).filter((name) => /plain-[ar]t/.test(readFileSync(join(folder, name), "latin1")));
}

async function benchOnFile(): Promise<CliBench & { readonly strip: () => Promise<Result> }> {
  const [{ cliBench, keyOf, olderRow, VENDOR, ISSUER }, { sqliteTokenRows }, { strip }] = await Promise.all([
    import("../testing/cli-bench.ts"),
    import("../rows/sqlite.ts"),
    import("./strip.ts"),
  ]);
  const rows = sqliteTokenRows({ path });
  const bench = cliBench({ rows });
  closing.push(rows.close);
  await rows.ping();
  // The release before: it deleted and rewrote rows without zeroing what they held.
  const before = new DatabaseSync(path);
  before.exec("pragma secure_delete = off");
  const write = before.prepare("insert or replace into token_rows values ('tokens', ?, 'VENDOR#gone', ?)");
  for (let at = 0; at < 400; at += 1)
    write.run(`USER#${at}`, JSON.stringify({ ...olderRow("x"), pad: "p".repeat(3000) }));
  before.exec("delete from token_rows");
  before.exec("pragma wal_checkpoint(truncate)");
  before.close();
  expect(filesWithTokens()).toContain("tokens.sqlite");
  // A server, whose connection stays open.
  const server = sqliteTokenRows({ path });
  closing.push(server.close);
  for (let user = 0; user < 30; user += 1) await bench.records("bridge").replace(keyOf(`u${user}`), TOKENS);
  await server.ping();
  expect(filesWithTokens()).toEqual(expect.arrayContaining(["tokens.sqlite", "tokens.sqlite-wal"]));
  const options = { issuers: new Map([[VENDOR, ISSUER]]), rate: 1000, dryRun: false, mode: "encrypted" } as const;
  return { ...bench, strip: () => strip(options, bench.deps) };
}

describe("strip of a SQLite file", () => {
  it("bar#TS-10 leaves no byte of a token in the file, its log or its index, beside a server that runs (#11)", async () => {
    const bench = await benchOnFile();
    expect(await bench.strip()).toMatchObject({ ending: "done", counts: { stripped: 30 } });
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(filesWithTokens()).toEqual([]);
    const { keyOf } = await import("../testing/cli-bench.ts");
    const read = await bench.records("encrypted").read(keyOf("u7"));
    expect(read?.stored.tokens.refreshToken?.reveal()).toBe("plain-rt");
  });

  it("bar#TS-10 says so, and what to do, where another process keeps reading the log; then it is run again", async () => {
    const bench = await benchOnFile();
    const shell = new DatabaseSync(path);
    closing.push(() => shell.isOpen && shell.close());
    shell.exec("begin");
    shell.prepare("select count(*) from token_rows").get();
    expect(await bench.strip()).toMatchObject({
      ending: "plaintext_left",
      next: [expect.stringContaining("End it, then run strip again")],
    });
    expect(filesWithTokens()).toContain("tokens.sqlite-wal");
    shell.exec("rollback");
    expect(await bench.strip()).toMatchObject({ ending: "done", counts: {} });
    expect(filesWithTokens()).toEqual([]);
  });

  it.each([
    ["the file is not written anew", { rewriteFile: () => undefined }, ["tokens.sqlite"]],
    ["the log is not emptied", { emptyLog: () => true }, ["tokens.sqlite", "tokens.sqlite-wal"]],
  ])("tokens are left where %s (twin of bar#TS-10)", async (_what, off, left) => {
    vi.doMock("../records/sqlite-erase.ts", async (original) => ({ ...(await original<object>()), ...off }));
    const bench = await benchOnFile();
    vi.doUnmock("../records/sqlite-erase.ts");
    expect(await bench.strip()).toMatchObject({ ending: "done" });
    expect(filesWithTokens()).toEqual(left);
  });
});

describe("a row that is replaced or deleted", () => {
  async function filesAfterDeletion(): Promise<string[]> {
    const { sqliteTokenRows } = await import("../rows/sqlite.ts");
    const rows = sqliteTokenRows({ path });
    closing.push(rows.close);
    const keys = Array.from({ length: 20 }, (_, at) => ({ pk: `USER#${at}`, sk: "VENDOR#example" }));
    const set = { access_token: TOKENS.accessToken.reveal() };
    for (const key of keys) await rows.change(key, { set }, {});
    for (const [at, key] of keys.entries()) {
      await (at % 2 === 0 ? rows.delete(key, {}) : rows.change(key, { set: { access_token: "gone" } }, {}));
    }
    const other = new DatabaseSync(path);
    other.exec("pragma wal_checkpoint(truncate)");
    other.close();
    return filesWithTokens();
  }

  it("bar#TS-10 is zeroed in the file", async () => {
    expect(await filesAfterDeletion()).toEqual([]);
  });

  it("stays readable in the file where it is not (twin of bar#TS-10)", async () => {
    vi.doMock("../records/sqlite-open.ts", async (original) => {
      const module = await original<typeof import("../records/sqlite-open.ts")>();
      const openDatabase: typeof module.openDatabase = (file, durability) => {
        const db = module.openDatabase(file, durability);
        db.exec("pragma secure_delete = off");
        return db;
      };
      return { ...module, openDatabase };
    });
    const left = filesAfterDeletion();
    await expect(left).resolves.toEqual(["tokens.sqlite"]);
    vi.doUnmock("../records/sqlite-open.ts");
  });
});
