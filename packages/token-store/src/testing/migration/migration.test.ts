/**
 * A table of three thousand users (`npm test`: some hundred) goes from plaintext to ciphertext while
 * an older build and two servers of this one use it, and the command that does it is killed at
 * random moments. On dynalite or DynamoDB Local and the loopback KMS, as processes.
 */
import { mkdtemp, rm } from "node:fs/promises";
import type { ChildProcess } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DynamoDbEngine, type KmsServer, startDynamoDb, startKms } from "@oauth-broker/simulators/aws";
import { volume } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock, systemTimer } from "@oauth-broker/oauth-core";
import { kmsKeyWrapper } from "../../keys/kms.ts";
import { dynamodbTokenRows } from "../../storage/dynamodb/token-rows.ts";
import type { TokenRows } from "../../storage/token-rows.ts";
import { createTokenStore, type TokenStore } from "../../token-store.ts";
import { PATIENT } from "../aws/deadline.ts";
import { type Ended, type Kill, runToEnd } from "./command.ts";
import {
  type FleetReport,
  type FleetSettings,
  ISSUER,
  fleetUsers,
  seeded,
  userOf,
  VENDOR,
  type Write,
} from "./fleet.ts";
import {
  copies,
  countKinds,
  ENCRYPTED_FROM,
  fillTable,
  firstWriteOf,
  itemsWithPlaintext,
  OLDER_ROWS,
  OTHER_ROWS,
  rowsInMemory,
  USERS,
  usersWithOtherTokens,
} from "./table.ts";
import { orderAll, startProcesses, stopProcess } from "../processes.ts";

const SERVER = new URL("./server.ts", import.meta.url).href;
const OLDER_BUILD = new URL("./older-build.ts", import.meta.url).href;
const SEED = 20_261_103;
const MIGRATE_KILLS = volume({ test: 1, soak: 3 });
const STRIP_KILLS = volume({ test: 1, soak: 3 });
/** A kill falls somewhere in it: a quiet machine has three thousand rows done by then. */
const LONGEST_RUN_MS = volume({ test: 300, soak: 3000 });
const TEST_TIMEOUT_MS = 900_000;

let engine: DynamoDbEngine;
let kms: KmsServer;
let folder: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  [engine, kms, folder] = await Promise.all([startDynamoDb(), startKms(), mkdtemp(join(tmpdir(), "migration-"))]);
});
afterAll(async () => {
  await Promise.all(children.map((child) => stopProcess(child, "SIGKILL")));
  await Promise.all([engine.close(), kms.close(), rm(folder, { recursive: true, force: true })]);
});

describe("a table with many users", () => {
  it(
    "bar#TS-15 bar#TS-10 goes from plaintext to ciphertext under load and kills, losing nothing",
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const random = seeded(SEED);
      const [table, keyId] = [await engine.createTable(), kms.createKey()];
      const { endpoint, region } = engine;
      const openStore = (
        mode: "bridge" | "encrypted",
        rows: TokenRows = dynamodbTokenRows({ table, region, endpoint, ...PATIENT }),
      ): TokenStore => {
        const keys = kmsKeyWrapper({ keyId, region, endpoint: kms.endpoint, deadlineMs: PATIENT.deadlineMs });
        return createTokenStore({ rows, timer: systemTimer, keys, mode, environment: region, now: systemClock });
      };
      const bridge = openStore("bridge");
      const encrypted = openStore("encrypted");
      await fillTable({ table, endpoint, region }, { bridge, encrypted });
      expect(countKinds(await engine.items(table), systemClock())).toMatchObject({
        plaintext_only: OLDER_ROWS,
        both: 2 * OTHER_ROWS,
      });

      const users = fleetUsers(volume({ test: 0.08, soak: 1 }));
      const settings = { users, table, region, dynamoDb: endpoint, kms: kms.endpoint, keyId };
      const start = async (
        file: string,
        own: Pick<FleetSettings, "mode" | "server" | "last">,
      ): Promise<ChildProcess> => {
        const all: FleetSettings = { ...settings, ...own, seed: Math.floor(random() * 1e9) };
        const [child] = await startProcesses(file, [JSON.stringify(all)], 1);
        if (child === undefined) throw new Error("no process was started");
        children.push(child);
        return child;
      };
      const server = (
        mode: "bridge" | "encrypted",
        index: number,
        last: FleetSettings["last"],
      ): Promise<ChildProcess> => start(SERVER, { mode, server: index, last });

      const environment = {
        DB_TABLE_NAME: table,
        DB_TABLE_REGION: region,
        TOKEN_ENCRYPTION_KMS_KEY_ID: keyId,
        AWS_ENDPOINT_URL_DYNAMODB: endpoint,
        AWS_ENDPOINT_URL_KMS: kms.endpoint,
      };
      const command = (name: "audit" | "migrate" | "strip", kill?: Kill): Promise<Ended> => {
        const issuer = ["--issuer", `${VENDOR}=${ISSUER}`, "--rate", "5000"];
        const checkpoint = name === "audit" ? ["--verify"] : ["--checkpoint", join(folder, `${name}.json`)];
        const mode = name === "strip" ? "encrypted" : "bridge";
        return runToEnd([name, ...issuer, ...checkpoint], { ...environment, TOKEN_ENCRYPTION_MODE: mode }, kill);
      };
      /** One in four while it starts and counts, the others in the midst of the rows. */
      const killed = async (name: "migrate" | "strip", times: number): Promise<void> => {
        let longestMs = LONGEST_RUN_MS;
        for (let [kills, runs] = [0, 0]; kills < times; runs += 1) {
          expect(runs).toBeLessThan(5 * times);
          const kill = random() < 0.25 ? { afterStartMs: 1500 * random() } : { afterWorkMs: longestMs * random() };
          const { signal, code, stderr } = await command(name, kill);
          if (signal === "SIGKILL") kills += 1;
          else {
            // It was done before its time came: the next one has less to do.
            expect([0, 3], stderr).toContain(code);
            longestMs /= 2;
          }
        }
      };

      // First deployment: mode bridge, older builds still there.
      const older = await start(OLDER_BUILD, { mode: "bridge", server: 0, last: [] });
      const servers = await Promise.all([server("bridge", 0, []), server("bridge", 1, [])]);
      expect((await command("audit")).code).toBe(3);
      await killed("migrate", MIGRATE_KILLS);
      // With older builds at work, rows that one replaced a moment ago may be left.
      expect([0, 3]).toContain((await command("migrate")).code);

      // The older builds go. What they wrote last is sealed.
      const [olderReport, ...serverReports] = await Promise.all([older, ...servers].map(stopped));
      expect([olderReport, ...serverReports].flatMap((report) => report?.problems ?? ["no report"])).toEqual([]);
      const last = lastWrites([olderReport, ...serverReports]);
      expect(await command("migrate")).toMatchObject({ code: 0, stderr: "" });
      expect((await command("audit")).code).toBe(0);
      const items = await engine.items(table);
      const kinds = countKinds(items, systemClock());
      expect(kinds).toEqual({
        plaintext_only: 0,
        both: USERS - OTHER_ROWS,
        ciphertext_only: OTHER_ROWS,
        broken: 0,
        empty: 0,
        expired: 50,
        other: 51,
      });
      const seen = copies(items);
      for (let index = 0; index < ENCRYPTED_FROM; index += 1)
        expect(last(index)).toContainEqual(seen.get(userOf(index)));
      const readers = openStore("bridge", await rowsInMemory(items, table));
      expect(await usersWithOtherTokens(readers, last)).toEqual([]);
      await readers.close();

      // Second deployment: mode encrypted. The servers of before have declared older readers, for
      // half an hour.
      const refused = await command("strip");
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("has declared that builds which read plaintext"),
      });
      await bridge.close();
      const declarations = dynamodbTokenRows({ table, region, endpoint, ...PATIENT });
      await declarations.change({ pk: "TOKEN_STORE", sk: "OLDER_READERS" }, { set: { until: systemClock() - 1 } }, {});
      await declarations.close();
      const lastOfServers = serverReports.map((report, at) => {
        const { from = 0, to = 0 } = users.servers[at] ?? {};
        return (report?.last ?? []).filter(([index]) => index >= from && index < to);
      });
      const after = await Promise.all(lastOfServers.map((own, index) => server("encrypted", index, own)));

      // Third: strip.
      await killed("strip", STRIP_KILLS);
      expect(await command("strip")).toMatchObject({ code: 0, stderr: "" });
      const afterReports = await Promise.all(after.map(stopped));
      expect(afterReports.flatMap((report) => report?.problems ?? ["no report"])).toEqual([]);
      const lastOfAll = lastWrites([olderReport, ...serverReports], afterReports);
      const left = await engine.items(table);
      expect(itemsWithPlaintext(left)).toEqual([]);
      const lastReaders = openStore("encrypted", await rowsInMemory(left, table));
      expect(await usersWithOtherTokens(lastReaders, lastOfAll)).toEqual([]);
      await lastReaders.close();
      await encrypted.close();
    },
  );
});

async function stopped(child: ChildProcess): Promise<FleetReport | undefined> {
  const [report] = await orderAll<FleetReport>([child], { what: "stop" });
  return report;
}

/**
 * @returns the writes that may be the last of a user: one, or where several processes wrote, the
 *   last of each
 */
function lastWrites(...phases: readonly (readonly (FleetReport | undefined)[])[]): (index: number) => readonly Write[] {
  const writers = ["older", "server0", "server1"];
  const last = new Map<number, Write[]>();
  for (const reports of phases) {
    const names = reports.length === writers.length ? writers : writers.slice(1);
    const phase = new Map<number, Write[]>();
    for (const [at, report] of reports.entries()) {
      for (const [index, write] of report?.last ?? []) {
        phase.set(index, [...(phase.get(index) ?? []), { by: names[at] ?? "", write }]);
      }
    }
    for (const [index, writes] of phase) last.set(index, writes);
  }
  return (index) => last.get(index) ?? [firstWriteOf(index)];
}
