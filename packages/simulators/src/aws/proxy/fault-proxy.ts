/**
 * A proxy between the SDK and an engine that produces failures: throttling, errors, no connection,
 * no response, and the worst of them, work that was done and whose response is lost. The engines do
 * none of it themselves. Faults are switched while requests run, and come in the same order in
 * every run.
 */
import { Agent } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Respond, startScriptedVendor } from "../../scripted-vendor.ts";
import { FAILED, throttledAnswer } from "./error-bodies.ts";
import { createFaultDecider, type Faults, type ProxiedRequest } from "./faults.ts";
import { forward } from "./forward.ts";

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
  readonly rewrite?: (body: string) => string;
  readonly onAnswer?: (operation: string, body: Buffer) => void;
}) {
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

  // Without an engine the client sees what it would see without the proxy: a broken connection.
  const answer: Respond = async ({ headers: sent, body }, response) => {
    const target = String(sent["x-amz-target"]);
    const operation = target.slice(target.indexOf(".") + 1);
    calls.set(operation, (calls.get(operation) ?? 0) + 1);
    options.onRequest?.({ operation, body });
    const decision = decide({ operation, body }, faults);
    if (decision.hangMs > 0) {
      counts.hung += 1;
      await sleep(decision.hangMs, undefined, { ref: false });
      if (response.destroyed) return undefined;
    }
    if (decision.refuse === "throttle") return throttledAnswer(counts.throttled++);
    if (decision.refuse === "error") {
      counts.failed += 1;
      return FAILED;
    }
    counts.forwarded += 1;
    const { status, headers, body: answered } = await forward(response.req, options.rewrite?.(body) ?? body, engine);
    options.onAnswer?.(operation, answered);
    const { "content-length": _length, ...others } = headers;
    if (!decision.losesAnswer(status)) return { status, headers: others, body: answered };
    counts.lost += 1;
    response.socket?.resetAndDestroy();
    return undefined;
  };
  const { server, url, close } = await startScriptedVendor({ "*": answer }, { keepsRequests: false });

  server.prependListener("connection", (socket: Socket) => {
    if (refusesConnections()) {
      reset(socket);
      return;
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });

  return {
    /** `http://127.0.0.1:PORT`: the endpoint for the SDK */
    endpoint: url,
    /** The faults from now on; `{}` means none. */
    set(next: Faults): void {
      faults = next;
      if (refusesConnections()) for (const socket of sockets) reset(socket);
    },
    /** Since the start; `calls` are the requests received, by operation. */
    counts: () => ({ calls: Object.fromEntries(calls), ...counts }),
    /** Leaves the engine running. */
    async close(): Promise<void> {
      await close();
      engine.agent.destroy();
    },
  };
}
