/**
 * Records every request without its secrets, and makes the next one to a path fail when a test
 * requests it.
 */
import type { Context } from "hono";
import { createFaultQueue } from "../../vendor-requests.ts";
import { mediaType, queryMembers, readMembers } from "./members.ts";
import type { RecordedVendorRequest, VendorEnv } from "./simulator.ts";

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

export function createRecorder() {
  const recorded: RecordedVendorRequest[] = [];
  const faults = createFaultQueue();
  return {
    middleware: async (c: Context<VendorEnv>, next: () => Promise<void>): Promise<void> => {
      const fault = faults.take(c.req.path);
      const isCut = fault?.kind === "drop" || fault?.kind === "lose";
      const isAnswered = !isCut && fault?.kind !== "hang";
      if (fault?.kind === "answer") {
        const headers = { "Content-Type": "application/json", ...fault.headers };
        c.res = new Response(fault.body ?? "", { status: fault.status, headers });
      } else if (isAnswered || fault?.kind === "lose") await next();
      if (fault?.kind === "rewrite") {
        const changed = fault.rewrite((await c.res.json()) as Record<string, unknown>);
        c.res = Response.json(changed, { status: c.res.status });
      }
      if (isCut) c.env.outgoing.destroy();
      recorded.push(await recordOf(c, isAnswered ? c.res.status : 0));
      // The framework answers once this returns.
      if (!isAnswered) await new Promise(() => undefined);
    },
    faultNext: faults.next,
    all: (): readonly RecordedVendorRequest[] => [...recorded],
  };
}

async function recordOf(c: Context<VendorEnv>, status: number): Promise<RecordedVendorRequest> {
  const body = c.req.method === "GET" ? [] : (await readMembers(c)).entries;
  const authorization = c.req.header("Authorization")?.split(" ", 1)[0];
  const accept = c.req.header("Accept");
  const contentType = mediaType(c.req.header("Content-Type"));
  return {
    method: c.req.method,
    path: c.req.path,
    query: withoutSecrets(queryMembers(c).entries),
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
