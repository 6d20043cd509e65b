/**
 * What DynamoDB and KMS charge: counted while flows, refreshes and calls of /mcp run on a table, in
 * the units that the engine reports for each request. Counted on a small and on a larger table,
 * because a request that scanned would be charged for its size.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { dynamodbRecordStore } from "@oauth-broker/token-store/dynamodb";
import { openConnection } from "../../connection.ts";
import { callTool, connect, refresh, type Session, userName } from "../../mcp-client.ts";
import { type Engines, type EngineServers, startEngines } from "../../engines.ts";
import { startBrokers } from "../fixture/brokers.ts";
import { type Charged, startCountingProxy } from "../fixture/counting-proxy.ts";
import { fill } from "../fixture/fill.ts";
import { type Found, pageLine, type Row } from "../section.ts";
import type { Size } from "../size.ts";
import { startMcpServer, startVendor, startVendorHere } from "../../services.ts";
import { awsEnvironment, tableEnvironment } from "../../../support/aws/environment.ts";
import { onStage, type Stage } from "../../stage.ts";

/** The lifetime of the first tokens: half of it passes, and they are due. */
const LIFETIME_SECONDS = 4;
const DEADLINE_MS = 30_000;

export async function measureUnits(size: Size, say: (line: string) => void): Promise<Found> {
  const [few = 0, many = 0] = size.records;
  return onStage(async (stage) => {
    const { open, kmsCalls } = await startEngines(stage);
    const { url: vendorUrl } = await startVendor("any", stage);
    const tables: Cost[][] = [];
    for (const records of [few, Math.min(many, MOST_ON_ENGINE)]) {
      say(`the broker on a table with ${records} records`);
      tables.push(await ofBroker({ engines: await open(), records, kmsCalls, count: size.charged }, vendorUrl, stage));
    }
    say("a hosted server");
    const server = await ofServer({ engines: await open(), records: 0, kmsCalls, count: size.charged }, stage);
    const rows = [...tables.flat(), ...server].map(rowOf);
    // Once for both tables: what is charged is the same.
    const page = [...(tables.at(-1) ?? []), ...server].map(({ what, requests, writes, reads }) =>
      pageLine([what, requests.join(", "), [units(writes, "W"), units(reads, "R")].filter(Boolean).join(", ")]),
    );
    const title = `Charged for each, as the engine counts it; KMS: calls for all ${size.charged}`;
    return { sections: [{ title, rows }], page };
  });
}

const MOST_ON_ENGINE = 10_000;

/** The cost of one operation. */
interface Cost {
  readonly what: string;
  /** In the table; absent if they do not matter. */
  readonly records?: number;
  readonly requests: readonly string[];
  readonly writes: string;
  readonly reads: string;
  /** The calls of all repetitions. */
  readonly kmsCalls: number;
}

function rowOf({ what, records, requests, writes, reads, kmsCalls }: Cost): Row {
  const where = records === undefined ? "" : `, ${records} records in the table`;
  return { what: `${what}${where}: ${requests.join(", ")}; KMS ${kmsCalls}`, figure: `${writes} W ${reads} R` };
}

function units(count: string, name: string): string {
  return count === "0" ? "" : `${count} ${name}`;
}

interface OnTable extends Pick<EngineServers, "kmsCalls"> {
  readonly engines: Engines;
  readonly records: number;
  /** How often each operation is made. */
  readonly count: number;
}

async function ofBroker(
  { engines, records, kmsCalls, count }: OnTable,
  vendorUrl: string,
  stage: Stage,
): Promise<Cost[]> {
  const { table, region, endpoint, keyArn, kmsEndpoint } = engines;
  const now = (): number => Math.floor(Date.now() / 1000);
  const store = dynamodbRecordStore({ table, region, endpoint, deadlineMs: DEADLINE_MS, now });
  await fill(store, records, now());
  await store.close();
  const proxy = stage.addBehind(await startCountingProxy(endpoint));
  const options = {
    folder: stage.folder(`broker-${records}`),
    store: `dynamodb:${table}?region=${region}&endpoint=${proxy.endpoint}`,
    keys: `kms:${keyArn}`,
    vendorUrl,
    env: awsEnvironment({ kmsEndpoint }),
  };
  const brokers = await startBrokers(options, stage);
  const connection = brokers.open();
  const charge = createCharge(count, proxy.charged, kmsCalls);
  let granted = await brokers.actor.flow(connection);
  const rows = [
    await charge("flow", async () => {
      granted = await brokers.actor.flow(connection);
    }),
    await charge("refresh at the broker", async () => {
      granted = await brokers.actor.refresh(connection, granted);
    }),
  ];
  await connection.close();
  return rows.map((row) => ({ ...row, records }));
}

async function ofServer({ engines, kmsCalls, count }: OnTable, stage: Stage): Promise<Cost[]> {
  const vendor = await startVendorHere({ codes: "named", firstLifetimeSeconds: LIFETIME_SECONDS }, stage);
  const proxy = stage.addBehind(await startCountingProxy(engines.endpoint));
  const env = tableEnvironment({ ...engines, endpoint: proxy.endpoint });
  const server = await startMcpServer({ name: "server", vendorUrl: vendor.url, env }, stage);
  const connection = openConnection(server.url);
  const charge = createCharge(count, proxy.charged, kmsCalls);
  const sessions: Session[] = [await connect(connection, userName(0))];
  const each = (work: (session: Session, at: number) => Promise<void>) => {
    let at = -1;
    return async (): Promise<void> => {
      at += 1;
      await work(sessions[at]!, at);
    };
  };
  const rows = [
    await charge("a user signs in at a hosted server", async () => {
      sessions.push(await connect(connection, userName(sessions.length)));
    }),
  ];
  await sleep(LIFETIME_SECONDS * 1000);
  const callAs = each(async ({ accessToken }) => void (await callTool(connection, accessToken, "token")));
  rows.push(
    await charge("call of `/mcp` that refreshes the vendor's token", callAs),
    await charge(
      "call of `/mcp`",
      each(async (session) => void (await callTool(connection, session.accessToken, "token"))),
    ),
    await charge(
      "refresh at a hosted server's `/token`",
      each(async (session, at) => {
        sessions[at] = await refresh(connection, session);
      }),
    ),
  );
  await connection.close();
  return rows;
}

/** @returns runs some work so many times, and says what each was charged */
function createCharge(count: number, charged: () => Charged, kmsCalls: () => number) {
  return async (what: string, work: () => Promise<void>): Promise<Cost> => {
    const [before, kmsBefore] = [charged(), kmsCalls()];
    for (let number = 0; number < count; number += 1) await work();
    const [after, kmsAfter] = [charged(), kmsCalls()];
    const each = (from: number, to: number): string => String(Math.round(((to - from) / count) * 10) / 10);
    const requests = Object.entries(after.requests).flatMap(([name, all]) => {
      const more = each(before.requests[name] ?? 0, all);
      return more === "0" ? [] : [`${more} ${name}`];
    });
    return {
      what,
      requests,
      writes: each(before.writes, after.writes),
      reads: each(before.reads, after.reads),
      kmsCalls: kmsAfter - kmsBefore,
    };
  };
}
