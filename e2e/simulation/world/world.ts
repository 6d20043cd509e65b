/** Everything one run with brokers is made of. */
import { ISSUER } from "@oauth-broker/broker/src/testing/memory-config.ts";
import { type Answer, textIn } from "./answer.ts";
import { begin, createNetwork, type Judge, type Sent } from "./network.ts";
import type { Random } from "../../support/seeded.ts";
import { type SimulatedClient, startProcesses } from "./processes.ts";
import type { Choose } from "./scheduler.ts";
import { createSharedStore, type Weaken } from "./store.ts";
import { createVendor, VENDOR_ORIGIN } from "./vendor.ts";

export type World = Awaited<ReturnType<typeof createWorld>>;

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

export async function createWorld(options: WorldOptions) {
  const { choose, random, clients, aheadSeconds, weaken } = options;
  const beginning = begin(choose, random);
  const { scheduler, promises, isFaulty } = beginning;
  const store = createSharedStore(beginning, weaken);
  const own = clients.flatMap((client) => client.own ?? []);
  const vendor = createVendor({ ...beginning, clients: own });
  for (const secret of [...clients.map((client) => client.secret), ...own.flatMap(({ secrets }) => secrets)]) {
    promises.hide(secret);
  }
  // Seldom, and then about as long as a lease lasts.
  const suspension = (): number => (isFaulty() && random?.happens(3) === true ? 24_000 + random.below(9_000) : 0);
  const processes = await startProcesses({ ...beginning, store, vendor, clients, aheadSeconds, suspension });
  const present = ({ form = {}, client }: Sent): ((answer: Answer) => void) => {
    const { code, redirect_uri: redirectUri = "" } = form;
    if (code === undefined) return () => undefined;
    const ownUri = clients.find(({ id }) => id === client?.id)?.redirectUri ?? "";
    const presented = promises.presented({ code, redirectUri, ownUri, nowMs: scheduler.nowMs() });
    return ({ status, body }) => presented({ status, error: textIn(body, "error") });
  };
  const send = createNetwork({
    ...beginning,
    name: "broker",
    processes,
    boundMs: ({ path }) => (path.startsWith("/v1/token") ? TOKEN_BOUND_MS : BOUND_MS),
    baseUrl: ISSUER,
    present,
    leaves: ({ origin }) => origin === VENDOR_ORIGIN,
    goesOn: ({ path }, { searchParams }) => path.startsWith("/v1/callback") && searchParams.has("code"),
    judge,
  });
  return { ...beginning, vendor, store, processes, clients, send };
}

function judge(
  { status, location = "", to, body }: Answer,
  { path, form }: Sent,
  { promises, loot, nowMs }: Judge,
): void {
  for (const name of ["request_uri", "connection"]) promises.hide(textIn(body, name));
  const code = path.startsWith("/v1/callback") ? to?.searchParams.get("code") : undefined;
  if (typeof code === "string") promises.issued(code, location, nowMs);
  if (status !== 200 || path !== "/v1/token") return;
  if (form?.["code"] !== undefined) promises.usedOnce("code", form["code"]);
  const [token, connection] = [textIn(body, "refresh_token"), textIn(body, "connection")];
  const accessToken = textIn(body, "access_token") ?? "";
  if (token !== undefined && connection !== undefined) loot.push({ kind: "refresh", token, connection, accessToken });
}
