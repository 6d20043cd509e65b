/**
 * Stands before a DynamoDB engine and adds up what its requests are charged: asks the engine for the
 * capacity that each of them consumes, which the engine counts by DynamoDB's own rules.
 */
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request as send, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** Since the start. */
export interface Charged {
  /** By operation. */
  readonly requests: Readonly<Record<string, number>>;
  /** Read units: a consistent read of 4 KB. */
  readonly reads: number;
  /** Write units: a write of 1 KB. */
  readonly writes: number;
}

export interface CountingProxy {
  readonly endpoint: string;
  charged(): Charged;
  stop(): Promise<void>;
}

/** A write whose condition fails is charged too, by the size of the item; ours are below 1 KB. */
const REFUSED_UNITS = 1;
const READS: ReadonlySet<string> = new Set(["GetItem", "Query", "Scan", "BatchGetItem"]);

/** @param engine its endpoint */
export async function startCountingProxy(engine: string): Promise<CountingProxy> {
  const agent = new Agent({ keepAlive: true });
  const requests: Record<string, number> = {};
  const units = { reads: 0, writes: 0 };
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const operation = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
    const input = JSON.parse(await text(request)) as object;
    const body = JSON.stringify({ ...input, ReturnConsumedCapacity: "TOTAL" });
    const headers = { ...request.headers, "content-length": String(Buffer.byteLength(body)) };
    const asked = send(engine, { agent, method: "POST", headers }).end(body);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    const answered = await text(answer);
    const { ConsumedCapacity: consumed } = JSON.parse(answered) as {
      readonly ConsumedCapacity?: { readonly CapacityUnits: number };
    };
    requests[operation] = (requests[operation] ?? 0) + 1;
    const isRefused = answered.includes("ConditionalCheckFailedException");
    units[READS.has(operation) ? "reads" : "writes"] += consumed?.CapacityUnits ?? (isRefused ? REFUSED_UNITS : 0);
    response.writeHead(answer.statusCode ?? 500, answer.headers).end(answered);
  };
  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    charged: () => ({ requests: { ...requests }, ...units }),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}
