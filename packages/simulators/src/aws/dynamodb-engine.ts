/**
 * DynamoDB for tests: dynalite in this process, or the DynamoDB Local that
 * scripts/dynamodb-local.mjs has started for the whole run. Tests see no difference. Tables have
 * unique names, so that test files, which run in several processes, can share one engine.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { callAwsJson } from "./aws-json.ts";
import { startDynalite } from "./dynalite-server.ts";

const REGION = "eu-west-1";
const POLL_MS = 5;
const MAX_POLLS = 400;

export type DynamoDbEngine = Awaited<ReturnType<typeof startDynamoDb>>;

/**
 * @param options.sharedEndpoint an engine that is already running; default:
 *   DYNAMODB_LOCAL_ENDPOINT, and dynalite without it
 */
export async function startDynamoDb(options: { readonly sharedEndpoint?: string } = {}) {
  const { DYNAMODB_LOCAL_ENDPOINT: local } = process.env;
  const shared = options.sharedEndpoint ?? (local === "" ? undefined : local);
  const dynalite = shared === undefined ? await startDynalite() : undefined;
  const endpoint = shared ?? dynalite?.url ?? "";
  const tables = new Set<string>();
  const call = (operation: string, input: object): Promise<Record<string, unknown>> =>
    callAwsJson({ endpoint, service: "dynamodb", region: REGION, operation, input });

  async function deleteTable(name: string): Promise<void> {
    await call("DeleteTable", { TableName: name });
    tables.delete(name);
    await poll(async () => (await tableStatus(call, name)) === undefined);
  }

  return {
    /** `http://127.0.0.1:PORT` */
    endpoint,
    region: REGION,
    /**
     * A table with `pk` (S) and `sk` (S), on demand, ready for use.
     *
     * @param name default: one that no other test has
     * @param definition another input of CreateTable
     * @returns its name
     */
    async createTable(name = `test-${randomUUID()}`, definition: object = SCHEMA): Promise<string> {
      await call("CreateTable", { ...definition, TableName: name });
      tables.add(name);
      await poll(async () => (await tableStatus(call, name)) === "ACTIVE");
      return name;
    },
    /** Returns when the table is gone. @throws Error named ResourceNotFoundException */
    deleteTable,
    /**
     * Every item as stored in the table, as DynamoDB JSON (`{ pk: { S: "…" } }`): for scans that must
     * find no plaintext.
     */
    items: (table: string) => scan(call, table),
    /** Ends dynalite; in a shared engine removes the tables made here. */
    close: async (): Promise<void> => {
      await (dynalite === undefined ? Promise.all([...tables].map(deleteTable)) : dynalite.close());
    },
  };
}

type Call = (operation: string, input: object) => Promise<Record<string, unknown>>;

const SCHEMA = {
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "sk", AttributeType: "S" },
  ],
  KeySchema: [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ],
  BillingMode: "PAY_PER_REQUEST",
};

/** @returns undefined when there is no such table */
async function tableStatus(call: Call, name: string): Promise<string | undefined> {
  try {
    const { Table: table } = await call("DescribeTable", { TableName: name });
    return (table as { readonly TableStatus: string }).TableStatus;
  } catch (error) {
    if (error instanceof Error && error.name === "ResourceNotFoundException") return undefined;
    throw error;
  }
}

async function scan(call: Call, table: string): Promise<readonly Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let from: unknown;
  do {
    const page = await call("Scan", {
      TableName: table,
      ConsistentRead: true,
      ...(from === undefined ? {} : { ExclusiveStartKey: from }),
    });
    items.push(...(page["Items"] as Record<string, unknown>[]));
    from = page["LastEvaluatedKey"];
  } while (from !== undefined);
  return items;
}

async function poll(isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < MAX_POLLS; tries += 1) {
    if (await isDone()) return;
    await sleep(POLL_MS);
  }
  throw new Error(`The table did not become ready within ${MAX_POLLS * POLL_MS} ms`);
}
