/**
 * A proxy between the SDK and an engine that produces failures: throttling, errors, no connection,
 * no response, and the worst of them, work that was done and whose response is lost. The engines do
 * none of it themselves. Faults are switched while requests run, and come in the same order in
 * every run.
 */
import { Agent, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "../../listen.ts";
import { readBody } from "../request-body.ts";
import { FAILED, throttledAnswer, type ErrorAnswer } from "./error-bodies.ts";
import { createFaultDecider, type Faults, type ProxiedRequest } from "./faults.ts";
import { forward } from "./forward.ts";

const MAX_REQUEST_BYTES = 16 * 1024 * 1024;

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

/**
 * @param options.target the engine's endpoint
 * @param options.onRequest receives every request, before anything else happens to it
 * @param options.rewrite makes the body that the engine gets
 * @param options.onAnswer receives the engine's answer to each request
 */
export async function startFaultProxy(options: {
  readonly target: string;
  readonly onRequest?: (request: ProxiedRequest) => void;
  readonly rewrite?: (body: Buffer) => Buffer;
  readonly onAnswer?: (operation: string, body: Buffer) => void;
}) {
  const listening = await listen(0);
  const { server } = listening;
  const engine = { url: options.target, agent: new Agent({ keepAlive: true }) };
  const decide = createFaultDecider();
  const calls = new Map<string, number>();
  const counts = {
    /** Requests forwarded to the engine. */
    forwarded: 0,
    throttled: 0,
    /** Answered with a 500. */
    failed: 0,
    /** Connections reset because it is down. */
    reset: 0,
    /** Requests held for `hangMs`. */
    hung: 0,
    /** Work done and its answer not passed on. */
    lost: 0,
  };
  const sockets = new Set<Socket>();
  let faults: Faults = {};

  const refusesConnections = (): boolean => faults.down === true;
  const reset = (socket: Socket | null): void => {
    counts.reset += 1;
    socket?.resetAndDestroy();
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, MAX_REQUEST_BYTES);
    if (body === undefined) {
      request.socket.destroy();
      return;
    }
    const target = String(request.headers["x-amz-target"]);
    const operation = target.slice(target.indexOf(".") + 1);
    calls.set(operation, (calls.get(operation) ?? 0) + 1);
    options.onRequest?.({ operation, body });
    const decision = decide({ operation, body }, faults);
    if (decision.hangMs > 0) {
      counts.hung += 1;
      await sleep(decision.hangMs, undefined, { ref: false });
      if (response.destroyed) return;
    }
    if (decision.refuse === "throttle") {
      sendError(response, throttledAnswer(counts.throttled));
      counts.throttled += 1;
      return;
    }
    if (decision.refuse === "error") {
      sendError(response, FAILED);
      counts.failed += 1;
      return;
    }
    counts.forwarded += 1;
    const { status, headers, body: answerBody } = await forward(request, options.rewrite?.(body) ?? body, engine);
    options.onAnswer?.(operation, answerBody);
    if (decision.losesAnswer(status)) {
      counts.lost += 1;
      request.socket.resetAndDestroy();
      return;
    }
    if (!response.destroyed) response.writeHead(status, headers).end(answerBody);
  }

  server.prependListener("connection", (socket: Socket) => {
    if (refusesConnections()) {
      reset(socket);
      return;
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    // Without an engine the client sees what it would see without the proxy: a broken connection.
    answer(request, response).catch(() => request.socket.destroy());
  });

  return {
    /** `http://127.0.0.1:PORT`: the endpoint for the SDK */
    endpoint: listening.url,
    /** The faults from now on; `{}` means none. */
    set(next: Faults): void {
      faults = next;
      if (refusesConnections()) for (const socket of sockets) reset(socket);
    },
    /** Since the start; `calls` are the requests received, by operation. */
    counts: () => ({ calls: Object.fromEntries(calls), ...counts }),
    /** Leaves the engine running. */
    async close(): Promise<void> {
      await listening.close();
      engine.agent.destroy();
    },
  };
}

function sendError(response: ServerResponse, { status, body }: ErrorAnswer): void {
  response
    .writeHead(status, { "Content-Type": "application/x-amz-json-1.0", "Content-Length": Buffer.byteLength(body) })
    .end(body);
}
