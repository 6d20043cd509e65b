/**
 * A load balancer as in front of services: asks each process whether it is ready, sends requests to
 * ready ones in turn, and tries the next process only when one does not listen.
 * When no process says that it is ready, all get requests: their own answers say more than ours.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

const HEALTH_CHECK_MS = 200;
/** Shorter than the services keep an idle connection, as their documentation asks. */
const IDLE_MS = 2_000;

export interface Balancer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Until `remove`, this port is asked whether it is ready. */
  add(port: number): void;
  /** What it said last. */
  isReady(port: number): boolean;
  remove(port: number): void;
  stop(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const ready = new Map<number, boolean>();
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  let turn = 0;

  const candidates = (): readonly number[] => {
    const healthy = [...ready].filter(([, isReady]) => isReady).map(([port]) => port);
    const ports = healthy.length > 0 ? healthy : [...ready.keys()];
    turn += 1;
    return ports.map((_, index) => ports[(turn + index) % ports.length] ?? 0);
  };

  const forward = (
    incoming: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
    ports: readonly number[],
  ): void => {
    const [port, ...others] = ports;
    if (port === undefined) {
      response.destroy();
      return;
    }
    const { method, url, headers } = incoming;
    const outgoing = request({ host: "127.0.0.1", port, method, path: url, headers, agent });
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") forward(incoming, body, response, others);
      else response.destroy();
    });
    outgoing.end(body);
  };

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => forward(incoming, Buffer.concat(chunks), response, candidates()));
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const watch = async (port: number): Promise<void> => {
    while (ready.has(port)) {
      const isReady = await isReadyAt(port);
      if (ready.has(port)) ready.set(port, isReady);
      await sleep(HEALTH_CHECK_MS, undefined, { ref: false });
    }
  };

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (port) => {
      ready.set(port, false);
      void watch(port);
    },
    isReady: (port) => ready.get(port) ?? false,
    remove: (port) => void ready.delete(port),
    stop: async () => {
      ready.clear();
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function isReadyAt(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(5_000) });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}
