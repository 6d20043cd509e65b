/**
 * What DynamoDB and KMS charge: counted while flows, refreshes and calls of /mcp run on a table, in
 * the units that the engine reports for each request. Counted on a small and on a larger table,
 * because a request that scanned would be charged for its size.
 */
import { systemClock as now } from "@oauth-broker/oauth-core";
import { startFakeVendor } from "@oauth-broker/simulators";
import { startFaultProxy } from "@oauth-broker/simulators/aws";
import { setTimeout as sleep } from "node:timers/promises";
import { dynamodbRecordStore } from "@oauth-broker/token-store/dynamodb";
import { awsEnvironment, tableEnvironment } from "../../../support/aws/environment.ts";
import { openConnection } from "../../connection.ts";
import { type Engines, startEngines } from "../../engines.ts";
import { callTool, connect, refresh, type Session, userName } from "../../mcp-client.ts";
import { startMcpServer, startVendor } from "../../services.ts";
import type { Stage } from "../../stage.ts";
import { startDriven } from "../fixture/brokers.ts";
import { fill } from "../fixture/fill.ts";
import { type Found, pageLine } from "../section.ts";
import type { Size } from "../size.ts";

/** The lifetime of the first tokens: half of it passes, and they are due. */
const LIFETIME_SECONDS = 4;
const DEADLINE_MS = 30_000;
const MOST_ON_ENGINE = 10_000;
/** A write whose condition fails is charged too, by the size of the item; ours are below 1 KB. */
const REFUSED_UNITS = 1;
const READS: ReadonlySet<string> = new Set(["GetItem", "Query", "Scan", "BatchGetItem"]);

/** What one operation is charged, and the calls to KMS of all repetitions. */
type Charge = Readonly<Record<"what" | "requests" | "units" | "kmsCalls", string>>;

export async function measureUnits(size: Size, say: (line: string) => void, stage: Stage): Promise<Found> {
  const [few = 0, many = 0] = size.records;
  const { open, kmsCalls } = await startEngines(stage);
  const { url: vendorUrl } = await startVendor("any", stage);
  const newTable = async (): Promise<Table> => startCharging(await open(), size.charged, kmsCalls, stage);
  const onFew = await chargeBroker(await newTable(), few, vendorUrl, stage);
  const most = Math.min(many, MOST_ON_ENGINE);
  say(`the broker on a table with ${most} records`);
  const onMany = await chargeBroker(await newTable(), most, vendorUrl, stage);
  say("a hosted server");
  const vendor = stage.addBehind(await startFakeVendor({ codes: "named", firstLifetimeSeconds: LIFETIME_SECONDS }));
  const ofServer = await chargeServer(await newTable(), vendor.url, stage);
  const cellsOf = (table: string, charges: readonly Charge[]): string[][] =>
    charges.map(({ what, requests, units, kmsCalls: calls }) => [what, table, units, calls, requests]);
  return {
    sections: [],
    more: [
      ["charged for each, as the engine counts it", "records", "units", "KMS, for all", "requests"],
      ...cellsOf(String(few), onFew),
      ...cellsOf(String(most), onMany),
      ...cellsOf("", ofServer),
    ],
    // Once for both tables: what is charged is the same.
    page: [...onMany, ...ofServer].map(({ what, requests, units }) => pageLine([what, requests, units])),
  };
}

/** @param records in the table */
async function chargeBroker(
  { engines, charging }: Table,
  records: number,
  vendorUrl: string,
  stage: Stage,
): Promise<Charge[]> {
  const { table, region, endpoint, keyArn } = engines;
  const filled = dynamodbRecordStore({ table, region, endpoint, deadlineMs: DEADLINE_MS, now });
  await fill(filled, records, now());
  await filled.close();
  const store = `dynamodb:${table}?region=${region}&endpoint=${endpoint}`;
  const brokers = await startDriven({ store, keys: `kms:${keyArn}`, vendorUrl, env: awsEnvironment(engines) }, stage);
  const connection = brokers.open();
  let granted = await brokers.actor.flow(connection);
  const charges = [
    await charging("flow", async () => (granted = await brokers.actor.flow(connection))),
    await charging("refresh at the broker", async () => (granted = await brokers.actor.refresh(connection, granted))),
  ];
  await connection.close();
  return charges;
}

async function chargeServer({ engines, charging }: Table, vendorUrl: string, stage: Stage): Promise<Charge[]> {
  const { url } = await startMcpServer({ name: "server", vendorUrl, env: tableEnvironment(engines) }, stage);
  const connection = openConnection(url);
  const sessions: Session[] = [await connect(connection, userName(0))];
  const call = (at: number): Promise<string> => callTool(connection, sessions[at]!.accessToken, "token");
  const signedIn = await charging("a user signs in at a hosted server", async () =>
    sessions.push(await connect(connection, userName(sessions.length))),
  );
  await sleep(LIFETIME_SECONDS * 1000);
  const charges = [
    signedIn,
    await charging("call of `/mcp` that refreshes the vendor's token", call),
    await charging("call of `/mcp`", call),
    await charging("refresh at a hosted server's `/token`", async (at) => {
      sessions[at] = await refresh(connection, sessions[at]!);
    }),
  ];
  await connection.close();
  return charges;
}

type Table = Awaited<ReturnType<typeof startCharging>>;
/**
 * A proxy before the engine adds up what requests are charged: it asks for the capacity that each of
 * them consumes, which the engine counts by DynamoDB's own rules.
 */
async function startCharging(engines: Engines, count: number, kmsCalls: () => number, stage: Stage) {
  /** Write units of 1 KB, and consistent reads of 4 KB. */
  const units = { W: 0, R: 0 };
  const { endpoint, counts } = stage.addBehind(
    await startFaultProxy({
      target: engines.endpoint,
      rewrite: (body) => JSON.stringify({ ...JSON.parse(body), ReturnConsumedCapacity: "TOTAL" }),
      onAnswer: (operation, body) => {
        const answered = body.toString();
        const { ConsumedCapacity: consumed } = JSON.parse(answered) as {
          readonly ConsumedCapacity?: { readonly CapacityUnits: number };
        };
        const isRefused = answered.includes("ConditionalCheckFailedException");
        units[READS.has(operation) ? "R" : "W"] += consumed?.CapacityUnits ?? (isRefused ? REFUSED_UNITS : 0);
      },
    }),
  );
  /** By name, without those of which there was none. Now and then a process reads its keys again: no operation did. */
  const each = (from: Readonly<Record<string, number>>, to: Readonly<Record<string, number>>): string =>
    Object.entries(to)
      .map(([name, all]) => [Math.round((all - (from[name] ?? 0)) / count), name] as const)
      .filter(([more]) => more !== 0)
      .map(([more, name]) => `${more} ${name}`)
      .join(", ");
  /** Makes an operation so often, and says what each was charged. */
  const charging = async (what: string, work: (at: number) => Promise<unknown>): Promise<Charge> => {
    const [requests, before, kmsBefore] = [counts().calls, { ...units }, kmsCalls()];
    for (let at = 0; at < count; at += 1) await work(at);
    return {
      what,
      requests: each(requests, counts().calls),
      units: each(before, units),
      kmsCalls: String(kmsCalls() - kmsBefore),
    };
  };
  return { engines: { ...engines, endpoint }, charging };
}
