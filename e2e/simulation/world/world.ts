/** Everything one run with brokers is made of. */
import { ISSUER } from "@oauth-broker/broker/src/testing/memory-config.ts";
import type { Promises } from "../invariants/promises.ts";
import {
  type Answer,
  begin,
  createNetwork,
  type Judge,
  type Loot,
  redirectOf,
  type Send,
  type Sent,
  textIn,
} from "./network.ts";
import { type Processes, type SimulatedClient, startProcesses } from "./processes.ts";
import type { Random } from "./random.ts";
import type { Choose, Scheduler } from "./scheduler.ts";
import { createSharedStore, type SharedStore, type Weaken } from "./store.ts";
import { createVendor, type SimulatedVendor, VENDOR_ORIGIN } from "./vendor.ts";

export interface World {
  readonly scheduler: Scheduler;
  readonly promises: Promises;
  readonly vendor: SimulatedVendor;
  readonly store: SharedStore;
  readonly processes: Processes;
  readonly clients: readonly SimulatedClient[];
  /** Absent if nothing is left to chance. */
  readonly random: Random | undefined;
  readonly tell: (line: string) => void;
  /** What an attacker who reads every log and every browser's history has seen, in order. */
  readonly loot: Loot[];
  /** What happened, a line each. */
  readonly story: readonly string[];
  /** From here on nothing fails any more. */
  endFaults(): void;
  readonly send: Send;
}

export interface WorldOptions {
  readonly choose: Choose;
  readonly random: Random | undefined;
  readonly clients: readonly SimulatedClient[];
  readonly aheadSeconds: readonly number[];
  readonly weaken?: Weaken;
}

/** The longest that one request may take, of virtual time. */
const TOKEN_BOUND_MS = 60_000;
const BOUND_MS = 40_000;

export async function createWorld(options: WorldOptions): Promise<World> {
  const { choose, random, clients, aheadSeconds, weaken = (store) => store } = options;
  const beginning = begin(choose, random);
  const { scheduler, promises, story, loot, tell, faults, storeDistance: distance } = beginning;
  const store = createSharedStore({ distance, tell, weaken, promises });
  const own = clients.flatMap((client) => client.own ?? []);
  const vendor = createVendor({ clients: own, scheduler, faults, promises, tell });
  for (const secret of [...clients.map((client) => client.secret), ...own.flatMap(({ secrets }) => secrets)]) {
    promises.hide(secret);
  }
  // Seldom, and then about as long as a lease lasts.
  const suspension = (): number =>
    beginning.isFaulty() && random?.happens(3) === true ? 24_000 + random.below(9_000) : 0;
  const processes = await startProcesses({
    scheduler,
    store,
    vendor,
    promises,
    clients,
    aheadSeconds,
    tell,
    suspension,
  });
  const present = ({ form = {}, client }: Sent): ((answer: Answer) => void) => {
    const { code, redirect_uri: redirectUri = "" } = form;
    if (code === undefined) return () => undefined;
    const ownUri = clients.find(({ id }) => id === client?.id)?.redirectUri ?? "";
    const presented = promises.presented({ code, redirectUri, ownUri, nowMs: scheduler.nowMs() });
    return ({ status, body }) => presented({ status, error: textIn(body, "error") });
  };

  const send = createNetwork({
    name: "broker",
    scheduler,
    promises,
    random,
    processes,
    tell,
    loot,
    losesAnswers: beginning.isFaulty,
    boundMs: ({ path }) => (path.startsWith("/v1/token") ? TOKEN_BOUND_MS : BOUND_MS),
    requestOf,
    present,
    judge,
  });

  return {
    scheduler,
    promises,
    vendor,
    store,
    processes,
    clients,
    random,
    tell,
    loot,
    story,
    endFaults: beginning.endFaults,
    send,
  };
}

function requestOf({ path, form, client, cookie }: Sent): Request {
  const headers: Record<string, string> = cookie === undefined ? {} : { cookie };
  if (client === undefined) headers["accept"] = "text/html";
  else headers["authorization"] = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}`;
  if (form === undefined) return new Request(ISSUER + path, { headers });
  return new Request(ISSUER + path, { method: "POST", headers, body: new URLSearchParams(form) });
}

function judge(answer: Answer, sent: Sent, { asker, what, promises, loot, nowMs }: Judge): void {
  const { status, text, location, cookies, body } = answer;
  promises.answered(asker, `${text} ${location ?? ""} ${cookies.join(" ")}`);
  if (status === 500) promises.broke(`${what} was answered 500`);
  for (const name of ["request_uri", "connection"]) promises.hide(textIn(body, name));
  const [path = "", query = ""] = sent.path.split("?", 2);
  const to = redirectOf(answer)?.searchParams;
  const code = to?.get("code") ?? undefined;
  const left = location?.startsWith(VENDOR_ORIGIN) === true ? (to?.get("state") ?? null) : null;
  if (left !== null) promises.startedBy(asker, left);
  if (path.startsWith("/v1/callback") && code !== undefined) {
    const state = new URLSearchParams(query).get("state") ?? "";
    promises.usedOnce("state", state);
    promises.continuedBy(asker, state);
    promises.issued(code, location ?? "", nowMs);
    loot.push({ kind: "code", code });
  }
  if (status !== 200 || path !== "/v1/token") return;
  if (sent.form?.["code"] !== undefined) promises.usedOnce("code", sent.form["code"]);
  const [token, connection] = [textIn(body, "refresh_token"), textIn(body, "connection")];
  const accessToken = textIn(body, "access_token") ?? "";
  if (token !== undefined && connection !== undefined) loot.push({ kind: "refresh", token, connection, accessToken });
}
