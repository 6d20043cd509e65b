/**
 * Tokens of many users that are due together, at vendors that allow a few refreshes a second: one
 * hosted server for each vendor. In the meantime every user calls a tool again and again. The run
 * fails when a user has to sign in again, when a vendor sees a refresh token twice, or when an
 * answer is neither a result nor a 503 with Retry-After.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startFakeVendor } from "@oauth-broker/simulators";
import { type Connection, openConnection } from "../../connection.ts";
import { connect, type Session, tryTool, userName } from "../../mcp-client.ts";
import { inLanes } from "../../lanes.ts";
import { startMcpServer } from "../../services.ts";
import { type Found, grouped, type PageLine, pageLines, range } from "../section.ts";
import type { Size } from "../size.ts";
import type { Stage } from "../../stage.ts";

type DueSize = Size["due"];

/** To each server; users share them, one call at a time on each. */
const CONNECTIONS = 200;
/** Users who sign in at once. */
const SIGN_IN_LANES = 16;
/** Times what the limit allows: users come back in whole seconds, and not evenly. */
const LIMIT = 1.25;

interface User {
  readonly session: Session;
  readonly connection: Connection;
  /** In ms of this process: until then the vendor's first token is valid. */
  readonly expiresAtMs: number;
}

const FIGURES = {
  /** From the first token that is due until the last was refreshed. */
  seconds: 0,
  passed: 0,
  /** 503 with Retry-After. */
  later: 0,
  /** How many of those had a token that was still valid: must stay 0. */
  laterThoughValid: 0,
  /** The slowest call that passed while the vendor's first token was valid and due. */
  slowestMs: 0,
  /** By the `refresh_backlog` lines of the server's log. */
  mostInQueue: 0,
};

export async function measureDue({ due }: Size, say: (line: string) => void, stage: Stage): Promise<Found> {
  const places: Place[] = [];
  for (let number = 0; number < due.vendors; number += 1) places.push(await open(number, due, stage));
  say(`${due.users} users signed in at each of ${due.vendors} vendors`);
  await Promise.all(places.map((place, number) => run(place, due, (line) => say(`vendor ${number + 1}  ${line}`))));
  const heads = ["vendor", "s", "429", "passed", "503", "though valid", "slowest valid, ms", "most in queue", ""];
  return {
    sections: [],
    more: [heads, ...places.map((place, number) => cellsOf(`vendor ${number + 1}`, place))],
    ...pageLines("due", linesOf(places, due)),
  };
}

type Place = Awaited<ReturnType<typeof open>>;
/** One vendor, its server, its users. */
async function open(number: number, due: DueSize, stage: Stage) {
  const { lifetimeSeconds: firstLifetimeSeconds, perSecond: refreshesPerSecond } = due;
  const vendor = stage.addBehind(await startFakeVendor({ codes: "named", firstLifetimeSeconds, refreshesPerSecond }));
  const figures = { ...FIGURES };
  const onLine = (line: string): void => {
    if (!line.includes('"refresh_backlog"')) return;
    figures.mostInQueue = Math.max(figures.mostInQueue, (JSON.parse(line) as { count: number }).count);
  };
  const { url } = await startMcpServer({ name: `server ${number}`, vendorUrl: vendor.url, onLine }, stage);
  const connections = Array.from({ length: Math.min(CONNECTIONS, due.users) }, () => openConnection(url));
  const users: User[] = [];
  await inLanes(SIGN_IN_LANES, due.users, async (_, number) => {
    const connection = connections[number % connections.length]!;
    // The server has whole seconds: the token may end up to one of them earlier.
    const expiresAtMs = performance.now() + (firstLifetimeSeconds - 1) * 1000;
    users.push({ session: await connect(connection, userName(number)), connection, expiresAtMs });
  });
  return { vendor, users, connections, figures };
}

async function run(
  { vendor, users, connections, figures }: Place,
  due: DueSize,
  say: (line: string) => void,
): Promise<void> {
  const refreshed = (): number => vendor.counts().refreshes - vendor.counts().throttled;
  const isDone = (): boolean => refreshed() >= users.length;
  const startedAt = performance.now();
  let firstAt: number | undefined;
  let lastAt = 0;
  const progress = setInterval(() => {
    const { throttled } = vendor.counts();
    const calls = `${figures.passed} calls passed, ${figures.later} later`;
    say(`${refreshed()} of ${users.length} refreshed, ${throttled} × 429; ${calls}`);
  }, 10_000);
  const callAs = async (user: User): Promise<void> => {
    await sleep(Math.random() * due.pauseMs);
    while (!isDone()) {
      if (performance.now() - startedAt > due.mostSeconds * 1000) throw new Error("The run takes too long");
      const pauseMs = await callOnce(user, figures, due);
      if (vendor.counts().refreshes > 0) firstAt ??= performance.now();
      if (isDone()) lastAt ||= performance.now();
      else await sleep(pauseMs);
    }
  };
  try {
    await Promise.all(users.map(callAs));
    figures.seconds = (lastAt - (firstAt ?? startedAt)) / 1000;
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
  figures: typeof FIGURES,
  { pauseMs }: DueSize,
): Promise<number> {
  const startedAt = performance.now();
  const { status, retryAfterSeconds } = await tryTool(connection, session.accessToken, "token");
  if (status === 200) {
    figures.passed += 1;
    if (startedAt < expiresAtMs) figures.slowestMs = Math.max(figures.slowestMs, performance.now() - startedAt);
    return pauseMs / 2 + Math.random() * pauseMs;
  }
  if (status !== 503 || retryAfterSeconds === undefined) throw new Error(`A call was answered with ${status}`);
  figures.later += 1;
  if (performance.now() < expiresAtMs) figures.laterThoughValid += 1;
  return retryAfterSeconds * 1000 * (1 + Math.random() / 2);
}

function linesOf(places: readonly Place[], { users, vendors, perSecond }: DueSize): PageLine[] {
  const each = `${grouped(users)} users at each of ${vendors} vendors due together, ${perSecond} refreshes a second each`;
  const allowed = users / perSecond;
  const seconds = places.map(({ figures }) => figures.seconds);
  const refused = places.map(({ figures }) => figures.laterThoughValid);
  const throttled = places.map(({ vendor }) => vendor.counts().throttled);
  return [
    {
      cells: [`${each}: all refreshed after`, `${range(seconds)} s`],
      aim: { text: `the limit allows ${allowed.toFixed(0)} s`, isMet: Math.max(...seconds) <= allowed * LIMIT },
    },
    {
      // A user who has to sign in again ends the run with an error.
      cells: ["users who had to sign in again; calls refused although their token was valid", `0; ${range(refused)}`],
      aim: { text: "0; 0", isMet: refused.every((count) => count === 0) },
    },
    { cells: ["refreshes that a vendor refused with 429", `${range(throttled)} each`] },
  ];
}

function cellsOf(name: string, { vendor, figures }: Place): string[] {
  const { seconds, passed, later, laterThoughValid, slowestMs, mostInQueue } = figures;
  const all = [seconds, vendor.counts().throttled, passed, later, laterThoughValid, slowestMs, mostInQueue];
  return [name, ...all.map((figure) => figure.toFixed(0)), ""];
}
