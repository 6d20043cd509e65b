/**
 * The ingress of one deployed server as a Hono app: the check, then the forwarding. Each server has
 * its own origin.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createCors, foreignHostDetail } from "@oauth-broker/service/http";
import { errorFields, listen, type Log } from "@oauth-broker/service";
import { Hono } from "hono";
import { DEFAULT_LIMITS, forward, type ForwardLimits } from "../ingress/forward.ts";
import { isForUpstream, keepsAuthorization, refusalOf, type Upstream } from "../ingress/authenticate.ts";

export interface IngressOptions {
  readonly log: Log;
  readonly limits?: ForwardLimits;
}

export function createIngress(upstream: Upstream, { log, limits = DEFAULT_LIMITS }: IngressOptions): Hono {
  const { host } = new URL(upstream.deploymentUrl);
  const cors = upstream.allowedOrigins.length === 0 ? undefined : createCors(upstream.allowedOrigins);
  const app = new Hono();
  app.all("*", async (c) => {
    // The raw path, as it is forwarded: Hono's own path is decoded.
    const { pathname: path } = new URL(c.req.url);
    const { method } = c.req;
    const request = { method, path, host: c.req.header("host"), authorization: c.req.header("authorization") };
    const connection = c.env as { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse } | undefined;
    const answer =
      refusalOf(request, upstream) ??
      (await forward(
        c.req.raw,
        {
          connectorId: upstream.connectorId,
          target: upstream.target,
          host,
          keepsAuthorization: keepsAuthorization(upstream),
          callerAddress: connection?.incoming?.socket.remoteAddress ?? "unknown",
          breakOff: () => void connection?.outgoing?.destroy(),
        },
        limits,
      ));
    // The path belongs to the server and may contain anything.
    const refused = isForUpstream(request.host, upstream)
      ? {}
      : { reason: "foreign_host", detail: foreignHostDetail(host, request.host) };
    log.info("request", { method, route: "ingress", status: answer.status, ...refused });
    if (answer instanceof Response) return answer;
    // The ingress itself answers: the server decides who may read what it answers.
    const headers = { ...answer.headers, ...cors?.headersFor(c.req.header("origin")) };
    return new Response(answer.body, { status: answer.status, headers });
  });
  app.onError((error) => {
    log.error("ingress_failed", errorFields(error));
    return new Response(null, { status: 500 });
  });
  return app;
}

/**
 * Below the range that systems use for outgoing connections, so that none of those takes a port
 * before the server listens. Each process begins at another port, so that two concurrent deploys do
 * not collide.
 */
const PORTS = { from: 31_000, count: 1_700 } as const;

let next = (process.pid * 4) % PORTS.count;

/** @returns a port of loopback that is free now, another one at each call */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS.count; tries += 1) {
    const port = PORTS.from + next;
    next = (next + 1) % PORTS.count;
    if (await isFree(port)) return port;
  }
  throw new Error(`No port from ${PORTS.from} upwards is free`);
}

async function isFree(port: number): Promise<boolean> {
  try {
    const listening = await listen(new Hono(), { host: "127.0.0.1", port });
    await listening.stop(0);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw error;
  }
}
