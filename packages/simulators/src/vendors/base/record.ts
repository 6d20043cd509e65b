/**
 * Records every request without its secrets, and makes the next one to a path fail when a test
 * requests it.
 */
import type { Context } from "hono";
import { createQueue, type Fault } from "../../vendor-requests.ts";
import { mediaType, queryMembers, readMembers } from "./members.ts";
import type { VendorEnv } from "./simulator.ts";

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
  const recorded: Awaited<ReturnType<typeof recordOf>>[] = [];
  const faults = createQueue<Fault>();
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
    all: () => [...recorded],
  };
}

/** One request to the vendor. Values of members that are secrets read `(secret)`. */
async function recordOf(c: Context<VendorEnv>, status: number) {
  return {
    method: c.req.method,
    path: c.req.path,
    query: withoutSecrets(queryMembers(c).entries),
    /** Members of a form or of a JSON object; empty for anything else. */
    body: withoutSecrets(c.req.method === "GET" ? [] : (await readMembers(c)).entries),
    /** The scheme of the Authorization header, e.g. `Basic`. */
    authorization: c.req.header("Authorization")?.split(" ", 1)[0],
    accept: c.req.header("Accept"),
    /** Without its parameters. */
    contentType: mediaType(c.req.header("Content-Type")),
    /** The status of the response; 0 when the connection was cut. */
    status,
  };
}

function withoutSecrets(entries: readonly (readonly [string, string])[]): Record<string, string> {
  return Object.fromEntries(
    entries.map(([name, value]) => [name, SECRET_MEMBERS.has(name) && value !== "" ? "(secret)" : value]),
  );
}
