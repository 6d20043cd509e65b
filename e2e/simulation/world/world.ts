/**
 * Everything one run is made of, and the way requests take: over a network that is slow and loses
 * answers, to one of the processes.
 */
import { createPromises, currentRequest, type Asker, type OpenRequest, type Promises } from "../invariants/promises.ts";
import { createDistance } from "./distance.ts";
import { ISSUER, type Processes, type SimulatedClient, startProcesses } from "./processes.ts";
import type { Random } from "./random.ts";
import { type Choose, createScheduler, type Scheduler } from "./scheduler.ts";
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
  /** @returns undefined when the answer was lost on its way */
  send(asker: Asker, request: Sent): Promise<Answer | undefined>;
}

/** A path to open, or what a backend was answered. */
export type Loot =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "refresh"; readonly token: string; readonly connection: string };

export interface Sent {
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly client?: SimulatedClient;
  readonly cookie?: string;
  /** Default: any. */
  readonly process?: number;
}

export interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly cookies: readonly string[];
  readonly text: string;
  /** The body of a JSON answer. */
  readonly body: Readonly<Record<string, unknown>>;
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
  const scheduler = createScheduler(choose);
  const promises = createPromises();
  const story: string[] = [];
  const loot: Loot[] = [];
  const tell = (line: string): void => {
    story.push(`${(scheduler.nowMs() / 1000).toFixed(3).padStart(9)}  ${line}`);
  };
  let isFaulty = true;
  const faults = random === undefined ? undefined : () => (isFaulty ? random : GENTLE);
  const distance = createDistance({ name: "record store", reason: "store_unavailable" }, { scheduler, faults, tell });
  const store = createSharedStore({ distance, tell, weaken });
  const vendor = createVendor({ scheduler, faults, promises, tell });
  for (const { secret } of clients) promises.hide(secret);
  const processes = await startProcesses({ scheduler, store, vendor, promises, clients, aheadSeconds, tell });

  const send: World["send"] = async (asker, sent) => {
    const way = (): Promise<void> => (random === undefined ? Promise.resolve() : scheduler.wait(1 + random.below(80)));
    const process = sent.process ?? random?.below(processes.count) ?? 0;
    const what = `${asker.name} asks broker ${process + 1} for ${describe(sent)}`;
    tell(what);
    if (sent.form === undefined) loot.push({ kind: "path", path: sent.path });
    await way();
    const boundMs = sent.path.startsWith("/v1/token") ? TOKEN_BOUND_MS : BOUND_MS;
    const open: OpenRequest = { what, sinceMs: scheduler.nowMs(), boundMs, isLetDown: false };
    promises.opened(open);
    const answer = await currentRequest
      .run(open, () => processes.fetch(process, requestOf(sent)))
      .then(readAnswer)
      .catch(() => undefined)
      .finally(() => promises.closed(open));
    if (answer === undefined) open.isLetDown = true;
    else judge(answer, sent, { asker, what, promises, loot });
    await way();
    const isLost = random !== undefined && isFaulty && random.happens(4);
    tell(`${asker.name} gets ${answer === undefined || isLost ? "no answer" : summary(answer)} for ${describe(sent)}`);
    return isLost ? undefined : answer;
  };

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
    endFaults: () => {
      isFaulty = false;
      tell("from here on nothing fails");
    },
    send,
  };
}

/** Calls take a moment, and nothing goes wrong. */
const GENTLE: Random = { below: (count) => Math.floor(count / 2), happens: () => false, pick: ([first]) => first! };

function requestOf({ path, form, client, cookie }: Sent): Request {
  const headers = new Headers(cookie === undefined ? {} : { cookie });
  if (client === undefined) headers.set("accept", "text/html");
  else headers.set("authorization", `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}`);
  if (form === undefined) return new Request(ISSUER + path, { headers });
  return new Request(ISSUER + path, { method: "POST", headers, body: new URLSearchParams(form) });
}

async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  return {
    status: response.status,
    location: response.headers.get("location") ?? undefined,
    cookies: response.headers.getSetCookie(),
    text,
    body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
  };
}

interface Judge {
  readonly asker: Asker;
  readonly what: string;
  readonly promises: Promises;
  readonly loot: Loot[];
}

function judge(answer: Answer, sent: Sent, { asker, what, promises, loot }: Judge): void {
  const { status, text, location, cookies, body } = answer;
  promises.answered(asker, `${text} ${location ?? ""} ${cookies.join(" ")}`);
  if (status === 500) promises.broke(`${what} was answered 500`);
  for (const name of ["request_uri", "connection"]) promises.hide(textIn(body, name));
  const [path = "", query = ""] = sent.path.split("?", 2);
  const code = location === undefined ? undefined : (new URL(location).searchParams.get("code") ?? undefined);
  const left = location?.startsWith(VENDOR_ORIGIN) === true ? new URL(location).searchParams.get("state") : null;
  if (left !== null) promises.startedBy(asker, left);
  if (path.startsWith("/v1/callback") && code !== undefined) {
    const state = new URLSearchParams(query).get("state") ?? "";
    promises.usedOnce("state", state);
    promises.continuedBy(asker, state);
    promises.hide(code);
    loot.push({ kind: "code", code });
  }
  if (status !== 200 || path !== "/v1/token") return;
  if (sent.form?.["code"] !== undefined) promises.usedOnce("code", sent.form["code"]);
  const [token, connection] = [textIn(body, "refresh_token"), textIn(body, "connection")];
  if (token !== undefined && connection !== undefined) loot.push({ kind: "refresh", token, connection });
}

/** A member of an answer, if it is text. */
export function textIn(body: Answer["body"], name: string): string | undefined {
  const value = body[name];
  return typeof value === "string" ? value : undefined;
}

function describe({ path, form }: Sent): string {
  const grant = form?.["grant_type"] ?? form?.["decision"];
  return grant === undefined ? pathOf(path) : `${pathOf(path)} (${grant})`;
}

function pathOf(path: string): string {
  return path.split("?", 1)[0] ?? path;
}

function summary({ status, body, location }: Answer): string {
  const parameters = location === undefined ? undefined : new URL(location).searchParams;
  const error = textIn(body, "error") ?? parameters?.get("error") ?? "";
  return [status, error, textIn(body, "reason") ?? ""].filter((part) => part !== "").join(" ");
}
