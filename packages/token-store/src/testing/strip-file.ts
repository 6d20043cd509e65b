/**
 * A SQLite file with tokens in rows, in freed space and in its log, beside a running server: for
 * strip, and for its twins.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Secret } from "@oauth-broker/oauth-core";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { beforeEach, expect, onTestFinished } from "vitest";
import type { Result } from "../cli/report.ts";
import { strip } from "../cli/strip.ts";
import { sqliteTokenRows } from "../storage/sqlite/token-rows.ts";
import { type CliFixture, cliFixture, keyOf, olderRow, STRIP } from "./cli-fixture.ts";

const TOKENS = {
  // Longer than a page of the file: the rest is in its own pages.
  accessToken: new Secret(`plain-at-${"a".repeat(9000)}`),
  refreshToken: new Secret("plain-rt"),
  tokenType: "Bearer",
};

export interface StripFile {
  /** The path, for this test alone. */
  readonly path: string;
  /** Which of the files hold the beginning of a token. */
  withTokens(): string[];
}

/** Made again for each test of the file that calls it. */
export function stripFile(): StripFile {
  let folder = "";
  beforeEach(() => {
    folder = temporaryFolder();
  });
  return {
    get path() {
      return join(folder, "tokens.sqlite");
    },
    withTokens: () =>
      readdirSync(folder).filter((name) => /plain-[ar]t/.test(readFileSync(join(folder, name), "latin1"))),
  };
}

export async function fixtureOn(file: StripFile): Promise<CliFixture & { readonly strip: () => Promise<Result> }> {
  const rows = sqliteTokenRows({ path: file.path });
  const fixture = cliFixture({ rows });
  onTestFinished(rows.close);
  await rows.ping();
  // The previous release: it deleted and rewrote rows without zeroing their content.
  const before = new DatabaseSync(file.path);
  before.exec("pragma secure_delete = off");
  const write = before.prepare("insert or replace into token_rows values ('tokens', ?, 'VENDOR#gone', ?)");
  before.exec("begin");
  for (let at = 0; at < 400; at += 1)
    write.run(`USER#${at}`, JSON.stringify({ ...olderRow("x"), pad: "p".repeat(3000) }));
  before.exec("commit");
  before.exec("delete from token_rows");
  before.exec("pragma wal_checkpoint(truncate)");
  before.close();
  expect(file.withTokens()).toContain("tokens.sqlite");
  // A server, whose connection stays open.
  const server = sqliteTokenRows({ path: file.path });
  onTestFinished(server.close);
  for (let user = 0; user < 30; user += 1) await fixture.records("bridge").replace(keyOf(`u${user}`), TOKENS);
  await server.ping();
  expect(file.withTokens()).toEqual(expect.arrayContaining(["tokens.sqlite", "tokens.sqlite-wal"]));
  return { ...fixture, strip: () => strip({ ...STRIP, rate: 1000 }, fixture.deps) };
}

/** Rows that were deleted or replaced. @returns which files hold tokens then */
export async function filesAfterDeletion(file: StripFile): Promise<string[]> {
  const rows = sqliteTokenRows({ path: file.path });
  onTestFinished(rows.close);
  const keys = Array.from({ length: 20 }, (_, at) => ({ pk: `USER#${at}`, sk: "VENDOR#example" }));
  const set = { access_token: TOKENS.accessToken.reveal() };
  for (const key of keys) await rows.change(key, { set }, {});
  for (const [at, key] of keys.entries()) {
    await (at % 2 === 0 ? rows.delete(key, {}) : rows.change(key, { set: { access_token: "gone" } }, {}));
  }
  const other = new DatabaseSync(file.path);
  other.exec("pragma wal_checkpoint(truncate)");
  other.close();
  return file.withTokens();
}
