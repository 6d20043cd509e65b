/**
 * The clients of a drill: whole flows, refreshes, and calls of `/mcp`, over and over. Each does
 * what the documentation asks of a client: it waits for as long as Retry-After says and repeats the
 * request, repeats one whose connection was cut, and starts again only when that is refused.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fakeCode, createCookieJar } from "@oauth-broker/simulators";
import { postAt, postWhoamiAt } from "../../support/mcp/client.ts";
import { VERIFIER } from "../../support/mcp/hosted-harness.ts";
import { PLATFORM_CALLBACK } from "../../support/mcp/process.ts";
import { basic, browse, challengeOf, encode, type Form, send } from "../../support/broker/platform.ts";
import type { Parties } from "../services.ts";
import type { Operation, Outcome, Seen } from "./ledger.ts";

/** The parts of an answer that a client looks at. */
interface Heard {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Thrown when an operation has to start again; recorded already. */
class StartAnew extends Error {}

/** A later answer is taken as lost. */
const PATIENCE_MS = 60_000;

export interface Load {
  /** What the clients have seen so far. */
  seen(): readonly Seen[];
  /** Lets each client finish its operation. */
  stop(): Promise<void>;
}

export interface BrokerTarget {
  readonly url: string;
  readonly parties: Parties;
}

export interface McpTarget {
  /** Where requests go. */
  readonly port: string;
  /** What the deployment calls itself. */
  readonly url: string;
}

export interface LoadSize {
  /** Clients of each kind. */
  readonly clients: Readonly<Record<Operation, number>>;
  /** The pause of a client between two operations. */
  readonly pauseMs: number;
}

export function startLoad(
  targets: { readonly broker: BrokerTarget; readonly mcp?: McpTarget },
  { clients, pauseMs }: LoadSize,
): Load {
  const seen: Seen[] = [];
  const stopped = new AbortController();
  const { broker, mcp } = targets;
  const operations: Record<Operation, () => () => Promise<void>> = {
    flow: () => async () => void (await connect(broker, attemptsOf("flow", seen))),
    refresh: () => createRefresher(broker, attemptsOf("refresh", seen)),
    call: () => createCaller(mcp ?? { port: "", url: "" }, attemptsOf("call", seen)),
  };
  const run = async (operation: Operation): Promise<void> => {
    const once = operations[operation]();
    while (!stopped.signal.aborted) {
      try {
        await once();
      } catch (error) {
        if (!(error instanceof StartAnew)) throw error;
      }
      await sleep(pauseMs);
    }
  };
  const kinds = (Object.keys(clients) as Operation[]).filter((operation) => operation !== "call" || mcp !== undefined);
  const all = kinds.flatMap((operation) => Array.from({ length: clients[operation] }, async () => run(operation)));
  // A defect of the drill itself ends it at `stop`.
  const ended = Promise.all(all);
  ended.catch(() => undefined);
  return {
    seen: () => seen,
    stop: async () => {
      stopped.abort();
      await ended;
    },
  };
}

type Attempts = (what: string, request: () => Promise<Heard>, status: number) => Promise<Heard>;

/** Repeats a request until it has this status, and records what came before. */
function attemptsOf(operation: Operation, seen: Seen[]): Attempts {
  return async (what, request, expected) => {
    const startedAt = performance.now();
    let unansweredFrom: number | undefined;
    for (;;) {
      const from = performance.now();
      const record = (outcome: Outcome, answer?: Heard, since = from): void => {
        seen.push({
          operation,
          from: since,
          to: performance.now(),
          outcome,
          ...(answer !== undefined && outcome !== "answered" ? { detail: detailOf(what, answer) } : {}),
          ...(answer !== undefined && mayStore(what, answer) ? { mayStore: true } : {}),
        });
      };
      const answer = await request().catch(() => undefined);
      if (answer?.status === expected) {
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
        if (/"retry":\s*"restart"/.test(answer.text)) throw new StartAnew();
        await sleep(Math.min(Number(answer.headers.get("retry-after")), 5) * 1000);
      } else {
        record(unansweredFrom === undefined ? "failed" : "lost", answer, unansweredFrom);
        throw new StartAnew();
      }
      if (performance.now() - startedAt > PATIENCE_MS) {
        seen.push({
          operation,
          from: startedAt,
          to: performance.now(),
          outcome: "failed",
          detail: `${what}: no answer`,
        });
        throw new StartAnew();
      }
    }
  };
}

function isDeferral({ status, headers }: Heard): boolean {
  return status === 503 && /^\d+$/.test(headers.get("retry-after") ?? "");
}

function detailOf(what: string, answer: Heard): string {
  return [what, answer.status, errorOf(answer), ...reasonOf(answer)].join(" ");
}

/** A call refreshes its vendor token before it is answered; what cannot be stored is the store's reason. */
function mayStore(what: string, answer: Heard): boolean {
  const [reason] = reasonOf(answer);
  return what === "/mcp" && (answer.status === 200 || reason === "store_unavailable" || reason === "kms_unavailable");
}

function reasonOf({ text }: Heard): readonly string[] {
  return /"reason":\s*"(\w+)"/.exec(text)?.slice(1) ?? [];
}

/** The code of a JSON error or the reason on a page. */
function errorOf({ text }: Heard): string {
  return /"error":\s*"(\w+)"/.exec(text)?.[1] ?? /<code>(\w+)<\/code>/.exec(text)?.[1] ?? text.slice(0, 120);
}

interface Connected {
  readonly refreshToken: string;
  readonly connection: string;
}

async function connect({ url, parties }: BrokerTarget, attempt: Attempts): Promise<Connected> {
  const { clientId, clientSecret, redirectUri, vendor } = parties;
  const headers = { authorization: basic(clientId, clientSecret) };
  const post = async (path: string, form: Form): Promise<Heard> =>
    send(`${url}${path}`, { method: "POST", headers, body: encode(form) });
  const codeVerifier = randomBytes(32).toString("base64url");
  const state = randomBytes(16).toString("base64url");
  const jar = createCookieJar();
  const request = {
    client_id: clientId,
    response_type: "code",
    vendor: vendor.id,
    redirect_uri: redirectUri,
    code_challenge: challengeOf(codeVerifier),
    code_challenge_method: "S256",
    state,
  };
  const pushed = await attempt("par", async () => post("/v1/par", request), 201);
  const { request_uri: requestUri } = JSON.parse(pushed.text) as { readonly request_uri: string };
  const authorize = `${url}/v1/authorize?${encode({ client_id: clientId, request_uri: requestUri }).toString()}`;
  const leaving = await attempt("authorize", async () => browse(authorize, jar), 303);
  // The user approves: the vendor has no own page.
  const atVendor = new URL(leaving.headers.get("location") ?? "").searchParams;
  const callback = new URL(atVendor.get("redirect_uri") ?? "");
  callback.searchParams.set("code", fakeCode(randomUUID()));
  callback.searchParams.set("state", atVendor.get("state") ?? "");
  const returning = await attempt("callback", async () => browse(callback, jar), 303);
  const code = new URL(returning.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: codeVerifier };
  return connected(await attempt("token", async () => post("/v1/token", form), 200));
}

function connected({ text }: Heard): Connected {
  const { refresh_token: refreshToken, connection } = JSON.parse(text) as Record<string, string>;
  return { refreshToken: refreshToken ?? "", connection: connection ?? "" };
}

/** Keeps one connection, always with its newest refresh token: the vendor ends the grant for an older one. */
function createRefresher(broker: BrokerTarget, attempt: Attempts): () => Promise<void> {
  let kept: Connected | undefined;
  const headers = { authorization: basic(broker.parties.clientId, broker.parties.clientSecret) };
  return async () => {
    if (kept === undefined) {
      kept = await connect(broker, attempt);
      return;
    }
    const { refreshToken, connection } = kept;
    const body = encode({ grant_type: "refresh_token", refresh_token: refreshToken, connection });
    kept = undefined;
    kept = connected(
      await attempt("refresh", async () => send(`${broker.url}/v1/token`, { method: "POST", headers, body }), 200),
    );
  };
}

/**
 * A user of the MCP server, signed in once: each call needs a valid token of that user at the
 * vendor.
 */
function createCaller(mcp: McpTarget, attempt: Attempts): () => Promise<void> {
  let token: string | undefined;
  return async () => {
    if (token === undefined) {
      const form = {
        client_id: "platform",
        grant_type: "authorization_code",
        code: fakeCode(randomUUID()),
        code_verifier: VERIFIER,
        redirect_uri: PLATFORM_CALLBACK,
      };
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const body = encode(form).toString();
      const answer = await attempt("/token", async () => postAt(mcp, "/token", { headers, body }), 200);
      token = (JSON.parse(answer.text) as { readonly access_token: string }).access_token;
      return;
    }
    const used = token;
    token = undefined;
    await attempt("/mcp", async () => postWhoamiAt(mcp.port, mcp, used), 200);
    token = used;
  };
}
