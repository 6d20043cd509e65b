/**
 * Records every request without its secrets, and makes the next one to a path fail when a test
 * requests it.
 */
import type { Context, MiddlewareHandler } from "hono";
import { createFaultQueue, type Fault } from "../../vendor-requests.ts";
import { mediaType, queryMembers, readMembers } from "./members.ts";
import type { RecordedVendorRequest, VendorEnv } from "./simulator.ts";

export interface Recorder {
  readonly middleware: MiddlewareHandler<VendorEnv>;
  faultNext(path: string, fault: Fault): void;
  all(): readonly RecordedVendorRequest[];
}

const SECRET_MEMBERS: ReadonlySet<string> = new Set([
  "access_token",
  "assertion",
  "client_assertion",
  "client_secret",
  "code",
  "code_verifier",
  "id_token_hint",
  "refresh_token",
  "token",
]);

export function createRecorder(): Recorder {
  const recorded: RecordedVendorRequest[] = [];
  const faults = createFaultQueue();
  return {
    async middleware(c, next) {
      const answer = await faulty(c, next, faults.take(c.req.path));
      if (answer === "none") {
        recorded.push(await recordOf(c, 0));
        // The framework answers once this returns.
        return new Promise(() => undefined);
      }
      if (answer !== undefined) c.res = answer;
      recorded.push(await recordOf(c, c.res.status));
    },
    faultNext: faults.next,
    all: () => [...recorded],
  };
}

/** @returns the response to send in its place, or that none is sent */
async function faulty(
  c: Context<VendorEnv>,
  next: () => Promise<void>,
  fault: Fault | undefined,
): Promise<Response | "none" | undefined> {
  switch (fault?.kind) {
    case undefined:
      await next();
      return undefined;
    case "answer":
      return new Response(fault.body ?? "", {
        status: fault.status,
        headers: { "Content-Type": "application/json", ...fault.headers },
      });
    case "rewrite": {
      await next();
      const changed = fault.rewrite((await c.res.json()) as Record<string, unknown>);
      return Response.json(changed, { status: c.res.status });
    }
    case "lose":
      await next();
      c.env.outgoing.destroy();
      return "none";
    case "drop":
      c.env.outgoing.destroy();
      return "none";
    case "hang":
      return "none";
  }
}

async function recordOf(c: Context<VendorEnv>, status: number): Promise<RecordedVendorRequest> {
  const body = c.req.method === "GET" ? [] : await readMembers(c).then((members) => members.entries());
  const authorization = c.req.header("Authorization")?.split(" ", 1)[0];
  const accept = c.req.header("Accept");
  const contentType = mediaType(c.req.header("Content-Type"));
  return {
    method: c.req.method,
    path: c.req.path,
    query: withoutSecrets(queryMembers(c).entries()),
    body: withoutSecrets(body),
    ...(authorization === undefined ? {} : { authorization }),
    ...(accept === undefined ? {} : { accept }),
    ...(contentType === undefined ? {} : { contentType }),
    status,
  };
}

function withoutSecrets(entries: readonly (readonly [string, string])[]): Record<string, string> {
  return Object.fromEntries(
    entries.map(([name, value]) => [name, SECRET_MEMBERS.has(name) && value !== "" ? "(secret)" : value]),
  );
}
