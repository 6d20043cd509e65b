/**
 * A load balancer as in front of services: asks each process whether it is ready, sends requests to
 * ready ones in turn, and tries the next process only when one does not listen.
 * When no process says that it is ready, all get requests: their own answers say more than ours.
 */
import { Agent, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { forward } from "../../../packages/simulators/src/aws/proxy/forward.ts";
import { listen } from "../../../packages/simulators/src/listen.ts";

const HEALTH_CHECK_MS = 200;
/** Shorter than the services keep an idle connection, as their documentation asks. */
const IDLE_MS = 2_000;

export type Balancer = Awaited<ReturnType<typeof startBalancer>>;
export async function startBalancer() {
  const ready = new Map<number, boolean>();
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  const { server, url, close } = await listen(0);
  let turn = 0;

  const candidates = (): readonly number[] => {
    const healthy = [...ready].filter(([, isReady]) => isReady).map(([port]) => port);
    const ports = healthy.length > 0 ? healthy : [...ready.keys()];
    turn += 1;
    return ports.map((_, index) => ports[(turn + index) % ports.length] ?? 0);
  };
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(incoming);
    for (const port of candidates()) {
      try {
        const answered = await forward(incoming, body, { url: `http://127.0.0.1:${port}`, agent });
        return void response.writeHead(answered.status, answered.headers).end(answered.body);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ECONNREFUSED") break;
      }
    }
    response.destroy();
  };
  server.on("request", (incoming: IncomingMessage, response: ServerResponse) => {
    answer(incoming, response).catch(() => response.destroy());
  });

  const watch = async (port: number): Promise<void> => {
    while (ready.has(port)) {
      const isReady = await isReadyAt(port);
      if (ready.has(port)) ready.set(port, isReady);
      await sleep(HEALTH_CHECK_MS, undefined, { ref: false });
    }
  };
  return {
    /** `http://127.0.0.1:PORT` */
    url,
    /** Until `remove`, this port is asked whether it is ready. */
    add: (port: number) => {
      ready.set(port, false);
      void watch(port);
    },
    /** What it said last. */
    isReady: (port: number) => ready.get(port) ?? false,
    remove: (port: number) => void ready.delete(port),
    stop: async () => {
      ready.clear();
      agent.destroy();
      await close();
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
