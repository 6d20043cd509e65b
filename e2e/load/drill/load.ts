/**
 * The clients of a drill: whole flows, refreshes, and calls of `/mcp`, over and over. Each does
 * what the documentation asks of a client: it waits for as long as Retry-After says and repeats the
 * request, repeats one whose connection was cut, and starts again only when that is refused.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Actor, createActor, type Tokens } from "../broker-client.ts";
import { type Connection, connectionOf, openConnection, type Reply, type Request } from "../connection.ts";
import { connect, postCall, type Session } from "../mcp-client.ts";
import type { Parties } from "../services.ts";
import type { Operation, Outcome, Seen } from "./ledger.ts";

/** Thrown when an operation has to start again; recorded already. */
class StartAnew extends Error {}

/** A later answer is taken as lost. */
const PATIENCE_MS = 60_000;

export interface Targets {
  readonly broker: { readonly url: string; readonly parties: Parties };
  /** Where requests go, and what the deployment calls itself. */
  readonly mcp?: { readonly at: string; readonly host: string };
}

/**
 * @param size.clients of each kind
 * @param size.pauseMs of a client between two operations
 */
export function startLoad(
  { broker, mcp }: Targets,
  { clients, pauseMs }: { readonly clients: Readonly<Record<Operation, number>>; readonly pauseMs: number },
) {
  const seen: Seen[] = [];
  const stopped = new AbortController();
  const actor = createActor(broker.url, broker.parties);
  const operations: Record<Operation, (connection: Connection) => () => Promise<void>> = {
    flow: (connection) => async () => void (await actor.flow(connection)),
    refresh: (connection) => createRefresher(actor, connection),
    call: createCaller,
  };
  const open = (operation: Operation): Connection =>
    operation === "call" && mcp !== undefined ? openConnection(mcp.at, { host: mcp.host }) : openConnection(broker.url);
  const run = async (operation: Operation): Promise<void> => {
    const connection = open(operation);
    const once = operations[operation](createPatient(connection, operation, seen));
    while (!stopped.signal.aborted) {
      await once().catch((error: unknown) => {
        if (!(error instanceof StartAnew)) throw error;
      });
      await sleep(pauseMs);
    }
    await connection.close();
  };
  const kinds = (Object.keys(clients) as Operation[]).filter((operation) => operation !== "call" || mcp !== undefined);
  const all = kinds.flatMap((operation) => Array.from({ length: clients[operation] }, async () => run(operation)));
  // A defect of the drill itself ends it at `stop`.
  const ended = Promise.all(all);
  ended.catch(() => undefined);
  return {
    /** What the clients have seen so far. */
    seen: seen as readonly Seen[],
    /** Lets each client finish its operation. */
    stop: async () => {
      stopped.abort();
      await ended;
    },
  };
}

/** The statuses that answer a request, by its path; of others 200. */
const EXPECTED: Readonly<Record<string, number>> = { "/v1/par": 201, "/v1/authorize": 303, "/v1/callback": 303 };

/** A connection that repeats each request until it is answered, and records what came before. */
function createPatient(connection: Connection, operation: Operation, seen: Seen[]): Connection {
  const attempt = async (request: Request): Promise<Reply> => {
    const [what = ""] = request.path.split("?", 1);
    const startedAt = performance.now();
    let unansweredFrom: number | undefined;
    for (;;) {
      const from = performance.now();
      const record = (outcome: Outcome, answer?: Reply, since = from): void => {
        const detail = answer && outcome !== "answered" && { detail: detailOf(what, answer) };
        const stores = answer && mayStore(what, answer) && { mayStore: true };
        seen.push({ operation, from: since, to: performance.now(), outcome, ...detail, ...stores });
      };
      const answer = await connection.send(request).catch(() => undefined);
      if (answer?.status === (EXPECTED[what] ?? 200)) {
        record("answered", answer);
        return answer;
      }
      if (answer === undefined) {
        unansweredFrom ??= from;
        record("cut");
        await sleep(100);
      } else if (isDeferral(answer)) {
        unansweredFrom ??= from;
        record("deferred", answer);
        if (/"retry":\s*"restart"/.test(answer.body)) throw new StartAnew();
        await sleep(Math.min(Number(answer.header("retry-after")), 5) * 1000);
      } else {
        record(unansweredFrom === undefined ? "failed" : "lost", answer, unansweredFrom);
        throw new StartAnew();
      }
      if (performance.now() - startedAt > PATIENCE_MS) {
        const detail = `${what}: no answer`;
        seen.push({ operation, from: startedAt, to: performance.now(), outcome: "failed", detail });
        throw new StartAnew();
      }
    }
  };
  return connectionOf(attempt, connection.close);
}

function isDeferral({ status, header }: Reply): boolean {
  return status === 503 && /^\d+$/.test(header("retry-after"));
}

function detailOf(what: string, answer: Reply): string {
  return [what, answer.status, errorOf(answer), ...reasonOf(answer)].join(" ");
}

/** A call refreshes its vendor token before it is answered; what cannot be stored is the store's reason. */
function mayStore(what: string, answer: Reply): boolean {
  const [reason] = reasonOf(answer);
  return what === "/mcp" && (answer.status === 200 || reason === "store_unavailable" || reason === "kms_unavailable");
}

function reasonOf({ body }: Reply): readonly string[] {
  return /"reason":\s*"(\w+)"/.exec(body)?.slice(1) ?? [];
}

/** The code of a JSON error or the reason on a page. */
function errorOf({ body }: Reply): string {
  return /"error":\s*"(\w+)"/.exec(body)?.[1] ?? /<code>(\w+)<\/code>/.exec(body)?.[1] ?? body.slice(0, 120);
}

/** Refreshes one connection, always with its newest refresh token: the vendor ends the grant for an older one. */
function createRefresher(actor: Actor, connection: Connection): () => Promise<void> {
  let kept: Tokens | undefined;
  return async () => {
    const last = kept;
    kept = undefined;
    kept = await (last === undefined ? actor.flow(connection) : actor.refresh(connection, last));
  };
}

/**
 * A user of the MCP server, signed in once: each call needs a valid token of that user at the
 * vendor.
 */
function createCaller(connection: Connection): () => Promise<void> {
  let session: Session | undefined;
  return async () => {
    const last = session;
    session = undefined;
    if (last !== undefined) await postCall(connection, last.accessToken, "whoami");
    session = last ?? (await connect(connection, randomUUID()));
  };
}
