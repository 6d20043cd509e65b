/**
 * The way requests take: over a network that is slow and loses answers, to one of the processes.
 */
import { defined } from "@oauth-broker/oauth-core";
import { type Asker, createPromises, currentRequest, type OpenRequest, type Promises } from "../invariants/promises.ts";
import { type Answer, textIn } from "./answer.ts";
import { createDistance } from "./distance.ts";
import type { Fleet, Program } from "./fleet.ts";
import type { Random } from "../../support/seeded.ts";
import { type Choose, createScheduler } from "./scheduler.ts";

/** What an attacker has seen: a path that was opened, or what a backend was answered. */
export type Loot =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "refresh"; readonly token: string; readonly connection: string; readonly accessToken: string }
  /** A backend presents it now. */
  | { readonly kind: "presented"; readonly token: string; readonly connection: string };

export interface Sent {
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly client?: { readonly id: string; readonly secret: string };
  readonly bearer?: string;
  readonly cookie?: string;
  /** Default: any. */
  readonly process?: number;
}

export interface Judge {
  readonly asker: Asker;
  readonly what: string;
  readonly promises: Promises;
  readonly loot: Loot[];
  readonly nowMs: number;
}

/** What every world begins with. */
export type Beginning = ReturnType<typeof begin>;
/** @param random absent if nothing is left to chance */
export function begin(choose: Choose, random: Random | undefined) {
  const scheduler = createScheduler(choose);
  const story: string[] = [];
  const tell = (line: string): void => {
    story.push(`${(scheduler.nowMs() / 1000).toFixed(3).padStart(9)}  ${line}`);
  };
  let isFaulty = true;
  const parts = { scheduler, faults: random && (() => (isFaulty ? random : GENTLE)), tell };
  return {
    ...parts,
    promises: createPromises(),
    random,
    /** What an attacker who reads every log and every browser's history has seen, in order. */
    loot: [] as Loot[],
    /** What happened, a line each. */
    story: story as readonly string[],
    isFaulty: () => isFaulty,
    /** From here on nothing fails any more. */
    endFaults: () => {
      isFaulty = false;
      tell("from here on nothing fails");
    },
    /** The way to the record store. */
    storeDistance: createDistance({ name: "store", reason: "store_unavailable" }, parts),
  };
}

interface NetworkParts extends Beginning {
  /** What each process is called: `broker`. */
  readonly name: string;
  readonly processes: Pick<Fleet<Program>, "count" | "fetch">;
  /** Of virtual time. */
  readonly boundMs: (sent: Sent) => number;
  readonly baseUrl: string;
  /** @returns to be called with the answer, if one comes */
  readonly present?: (sent: Sent) => (answer: Answer) => void;
  /** Whether a redirect leads to a vendor. */
  readonly leaves: (to: URL) => boolean;
  /** Whether the redirect of a callback goes on with the flow. */
  readonly goesOn: (sent: Sent, to: URL) => boolean;
  /** What an answer must not be, beside what none may be. */
  readonly judge: (answer: Answer, sent: Sent, judge: Judge) => void;
}

/** @returns undefined when the answer was lost on its way */
export type Send = (asker: Asker, sent: Sent) => Promise<Answer | undefined>;

/** Calls take a moment, and nothing goes wrong. */
const GENTLE: Random = {
  below: (count) => Math.floor(count / 2),
  happens: () => false,
  pick: ([first]) => first!,
};

export function createNetwork(parts: NetworkParts): Send {
  const { name, scheduler, promises, random, processes, tell, loot } = parts;
  return async (asker, sent) => {
    const way = (): Promise<void> => (random === undefined ? Promise.resolve() : scheduler.wait(1 + random.below(80)));
    const process = sent.process ?? random?.below(processes.count) ?? 0;
    const what = `${asker.name} asks ${name} ${process + 1} for ${describe(sent)}`;
    tell(what);
    if (sent.form === undefined) loot.push({ kind: "path", path: sent.path });
    const { refresh_token: token, connection } = sent.form ?? {};
    if (token !== undefined && connection !== undefined) loot.push({ kind: "presented", token, connection });
    await way();
    const open: OpenRequest = {
      what,
      sinceMs: scheduler.nowMs(),
      boundMs: parts.boundMs(sent),
      client: sent.client?.id,
      isLetDown: false,
    };
    promises.opened(open);
    const presented = parts.present?.(sent);
    const answer = await currentRequest
      .run(open, () => processes.fetch(process, requestOf(sent, parts.baseUrl)))
      .catch(() => undefined)
      .finally(() => promises.closed(open));
    if (answer === undefined) open.isLetDown = true;
    else judgeAnswer(answer, sent, { asker, what, promises, loot, nowMs: scheduler.nowMs() }, parts);
    if (answer !== undefined) presented?.(answer);
    await way();
    const isLost = random !== undefined && parts.isFaulty() && random.happens(4);
    tell(`${asker.name} gets ${answer === undefined || isLost ? "no answer" : summary(answer)} for ${describe(sent)}`);
    return isLost ? undefined : answer;
  };
}

/** Without a signal and a stream, which cost a twentieth of a run, where only our code reads it and not a library. */
function requestOf({ path, form, json, client, bearer, cookie }: Sent, baseUrl: string): Request {
  const isOfBrowser = client === undefined && json === undefined && bearer === undefined;
  const basic = client && `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}`;
  const authorization = bearer === undefined ? basic : `Bearer ${bearer}`;
  const text = json === undefined ? form && new URLSearchParams(form).toString() : JSON.stringify(json);
  const type = json === undefined ? "application/x-www-form-urlencoded" : "application/json";
  const headers = new Headers({
    host: new URL(baseUrl).host,
    accept: isOfBrowser ? "text/html" : "application/json, text/event-stream",
    ...defined({ cookie, authorization, "content-type": text && type }),
    ...(path === "/mcp" ? { "mcp-protocol-version": "2025-11-25" } : {}),
  });
  const whole = { method: text === undefined ? "GET" : "POST", headers, body: text ?? null };
  if (bearer !== undefined) return new Request(baseUrl + path, whole);
  const body = text === undefined ? null : [Buffer.from(text)];
  return { ...whole, url: baseUrl + path, body } as unknown as Request;
}

function judgeAnswer(answer: Answer, sent: Sent, judge: Judge, parts: NetworkParts): void {
  const { status, text, location, to, cookies } = answer;
  const { asker, what, promises, loot } = judge;
  promises.answered(asker, `${text} ${location ?? ""} ${cookies.join(" ")}`);
  if (status === 500) promises.broke(`${what} was answered 500`);
  if (location !== undefined && to === undefined) promises.broke(`${what} was sent to no URL`);
  const left = to !== undefined && parts.leaves(to) ? to.searchParams.get("state") : null;
  if (left !== null) promises.startedBy(asker, left);
  if (to !== undefined && parts.goesOn(sent, to)) {
    const state = parametersOf(sent.path).get("state") ?? "";
    promises.usedOnce("state", state);
    promises.continuedBy(asker, state);
    const code = to.searchParams.get("code");
    if (code !== null) loot.push({ kind: "code", code });
  }
  parts.judge(answer, sent, judge);
}

/** The parameters in the query of a path. */
export function parametersOf(path: string): URLSearchParams {
  return new URLSearchParams(path.split("?", 2)[1]);
}

function describe({ path, form }: Sent): string {
  const grant = form?.["grant_type"] ?? form?.["decision"] ?? form?.["action"];
  const shown = (path.split("?", 1)[0] ?? path).replace(/^\/connect\/.*/, "/connect/…");
  return grant === undefined ? shown : `${shown} (${grant})`;
}

function summary({ status, body, to }: Answer): string {
  const error = textIn(body, "error") ?? to?.searchParams.get("error") ?? "";
  return [status, error, textIn(body, "reason") ?? ""].filter((part) => part !== "").join(" ");
}
