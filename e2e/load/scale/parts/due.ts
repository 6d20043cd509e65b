/**
 * Tokens of many users that are due together, at vendors that allow a few refreshes a second: one
 * hosted server for each vendor. In the meantime every user calls a tool again and again. The run
 * fails when a user has to sign in again, when a vendor sees a refresh token twice, or when an
 * answer is neither a result nor a 503 with Retry-After.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { FakeVendorServer } from "@oauth-broker/simulators";
import { type Connection, openConnection } from "../../connection.ts";
import { connect, type Session, tryTool, userName } from "../../mcp-client.ts";
import { inLanes } from "../../lanes.ts";
import { spreadOf } from "../../spread.ts";
import { startMcpServer, startVendorHere } from "../../services.ts";
import { type Found, grouped, pageLines, range, type Row } from "../section.ts";
import type { Size } from "../size.ts";
import { onStage, type Stage } from "../../stage.ts";

type DueSize = Size["due"];

/** To each server; users share them, one call at a time on each. */
const CONNECTIONS = 200;
/** Users who sign in at once. */
const SIGN_IN_LANES = 16;
/** Times what the limit allows: users come back in whole seconds, and not evenly. */
const LIMIT = 1.25;

/** One vendor, its server, its users. */
interface Place {
  readonly vendor: FakeVendorServer;
  readonly users: readonly User[];
  readonly connections: readonly Connection[];
  readonly calls: Calls;
  /** `refresh_backlog` lines of the server's log: how many records each named. */
  readonly backlog: number[];
  /** From the first token that is due until the last was refreshed. */
  seconds: number;
}

interface User {
  readonly session: Session;
  readonly connection: Connection;
  /** In ms of this process: until then the vendor's first token is valid. */
  readonly expiresAtMs: number;
}

interface Calls {
  passed: number;
  /** 503 with Retry-After. */
  later: number;
  /** Of those, with a token that was still valid: must stay 0. */
  laterThoughValid: number;
  /** The duration of the calls that passed while the vendor's first token was valid and due. */
  readonly milliseconds: number[];
}

export async function measureDue({ due }: Pick<Size, "due">, say: (line: string) => void): Promise<Found> {
  return onStage(async (stage) => {
    const places: Place[] = [];
    for (let number = 0; number < due.vendors; number += 1) places.push(await open(number, due, stage));
    say(`${due.users} users signed in at each of ${due.vendors} vendors`);
    await Promise.all(places.map((place, number) => run(place, due, (line) => say(`vendor ${number + 1}  ${line}`))));
    const rows = places.flatMap((place, number) => rowsOf(`vendor ${number + 1}`, place, due));
    const title = `${due.users} users at each of ${due.vendors} vendors, all due together; each vendor allows ${due.perSecond} refreshes a second`;
    return { sections: [{ title, rows }], page: pageOf(places, due) };
  });
}

async function open(number: number, due: DueSize, stage: Stage): Promise<Place> {
  const { lifetimeSeconds: firstLifetimeSeconds, perSecond: refreshesPerSecond } = due;
  const vendor = await startVendorHere({ codes: "named", firstLifetimeSeconds, refreshesPerSecond }, stage);
  const backlog: number[] = [];
  const server = {
    name: `server ${number}`,
    vendorUrl: vendor.url,
    onLine: (line: string) => {
      if (line.includes('"refresh_backlog"')) backlog.push((JSON.parse(line) as { count: number }).count);
    },
  };
  const { url } = await startMcpServer(server, stage);
  const connections = Array.from({ length: Math.min(CONNECTIONS, due.users) }, () => openConnection(url));
  const users: User[] = [];
  await inLanes(SIGN_IN_LANES, due.users, async (_, number) => {
    const connection = connections[number % connections.length]!;
    // The server has whole seconds: the token may end up to one of them earlier.
    const expiresAtMs = performance.now() + (firstLifetimeSeconds - 1) * 1000;
    users.push({ session: await connect(connection, userName(number)), connection, expiresAtMs });
  });
  const calls: Calls = { passed: 0, later: 0, laterThoughValid: 0, milliseconds: [] };
  return { vendor, users, connections, calls, backlog, seconds: 0 };
}

async function run(place: Place, due: DueSize, say: (line: string) => void): Promise<void> {
  const { vendor, users, connections, calls } = place;
  const refreshed = (): number => vendor.counts().refreshes - vendor.counts().throttled;
  const isDone = (): boolean => refreshed() >= users.length;
  const startedAt = performance.now();
  let firstAt: number | undefined;
  let lastAt = 0;
  const progress = setInterval(() => {
    const { throttled } = vendor.counts();
    say(
      `${refreshed()} of ${users.length} refreshed, ${throttled} × 429; ${calls.passed} calls passed, ${calls.later} later`,
    );
  }, 10_000);
  const callAs = async (user: User): Promise<void> => {
    await sleep(Math.random() * due.pauseMs);
    while (!isDone()) {
      if (performance.now() - startedAt > due.mostSeconds * 1000) throw new Error("The run takes too long");
      const pauseMs = await callOnce(user, calls, due);
      if (vendor.counts().refreshes > 0) firstAt ??= performance.now();
      if (isDone()) lastAt ||= performance.now();
      else await sleep(pauseMs);
    }
  };
  try {
    await Promise.all(users.map(callAs));
    place.seconds = (lastAt - (firstAt ?? startedAt)) / 1000;
    // Nothing is lost: every user's next call passes, and with the vendor's new token.
    for (const { session, connection } of users) {
      const { status } = await tryTool(connection, session.accessToken, "account");
      if (status !== 200) throw new Error(`A user's call after it all was answered with ${status}`);
    }
    const { replays } = vendor.counts();
    if (replays > 0) throw new Error(`The vendor saw ${replays} refresh tokens twice`);
  } finally {
    clearInterval(progress);
    await Promise.all(connections.map((connection) => connection.close()));
  }
}

/** @returns how long the user waits before the next call, in ms */
async function callOnce(
  { session, connection, expiresAtMs }: User,
  calls: Calls,
  { pauseMs }: DueSize,
): Promise<number> {
  const startedAt = performance.now();
  const { status, retryAfterSeconds } = await tryTool(connection, session.accessToken, "token");
  if (status === 200) {
    calls.passed += 1;
    if (startedAt < expiresAtMs) calls.milliseconds.push(performance.now() - startedAt);
    return pauseMs / 2 + Math.random() * pauseMs;
  }
  if (status !== 503 || retryAfterSeconds === undefined) throw new Error(`A call was answered with ${status}`);
  calls.later += 1;
  if (performance.now() < expiresAtMs) calls.laterThoughValid += 1;
  return retryAfterSeconds * 1000 * (1 + Math.random() / 2);
}

const allowedSeconds = ({ users, perSecond }: DueSize): number => users / perSecond;

function pageOf(places: readonly Place[], due: DueSize): string[] {
  const each = `${grouped(due.users)} users at each of ${due.vendors} vendors due together`;
  const refused = places.map(({ calls }) => calls.laterThoughValid);
  return pageLines("due", [
    [
      `${each}, ${due.perSecond} refreshes a second each: all refreshed after`,
      `${range(places.map(({ seconds }) => seconds))} s`,
      `the limit allows ${allowedSeconds(due).toFixed(0)} s`,
    ],
    // A user who has to sign in again ends the run with an error.
    ["users who had to sign in again; calls refused although their token was valid", `0; ${range(refused)}`, "0; 0"],
    [
      "refreshes that a vendor refused with 429",
      `${range(places.map(({ vendor }) => vendor.counts().throttled))} each`,
      "",
    ],
  ]);
}

function rowsOf(name: string, { vendor, calls, backlog, seconds }: Place, due: DueSize): Row[] {
  const allowed = allowedSeconds(due);
  const { throttled } = vendor.counts();
  const slowest = calls.milliseconds.length === 0 ? Number.NaN : spreadOf(calls.milliseconds).max;
  return [
    {
      what: `${name}: all ${due.users} refreshed, none lost`,
      figure: `${seconds.toFixed(0)} s`,
      aim: { text: `the limit allows ${allowed.toFixed(0)} s`, met: seconds <= allowed * LIMIT },
    },
    { what: "refreshes the vendor refused (429)", figure: String(throttled) },
    { what: "calls that passed meanwhile", figure: String(calls.passed) },
    { what: "calls answered 503 with Retry-After", figure: String(calls.later) },
    {
      what: "of them with a token that was still valid",
      figure: String(calls.laterThoughValid),
      aim: { text: "0", met: calls.laterThoughValid === 0 },
    },
    { what: "slowest call with a token that was still valid", figure: `${slowest.toFixed(0)} ms` },
    {
      what: `most in the queue, of ${backlog.length} log lines`,
      figure: String(Math.max(0, ...backlog)),
      aim: { text: "visible", met: backlog.length > 0 },
    },
  ];
}
