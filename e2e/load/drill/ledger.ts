/**
 * What the clients of a drill saw, request by request, and what they were promised for that time.
 * A request belongs to a window when it was under way in it: of several, to the first that promises
 * what it saw. All others belong to the time between, which promises that every request is
 * answered.
 */
import { alignTable } from "../report.ts";

/**
 * - `answered`: as if nothing had happened
 * - `deferred`: 503 with Retry-After; the client waits and repeats the request
 * - `cut`: the connection ended without an answer; the client repeats the request
 * - `lost`: refused after an earlier attempt was cut or deferred; the client starts its operation
 *   again
 * - `failed`: any other answer, or none in time
 */
export type Outcome = "answered" | "deferred" | "cut" | "lost" | "failed";
export type Operation = "flow" | "refresh" | "call";

export interface Seen {
  readonly operation: Operation;
  /** Milliseconds of the run's clock. */
  readonly from: number;
  readonly to: number;
  readonly outcome: Outcome;
  /** For what was not answered: path, status, error and reason. */
  readonly detail?: string;
  /** A request that may have had new tokens to store. */
  readonly mayStore?: boolean;
}

export interface Promised {
  /** In the table. */
  readonly text: string;
  /** 503 with Retry-After, to these operations. */
  readonly deferred?: readonly Operation[];
  /** Connections end without an answer, and an operation that met it may have to start again. */
  readonly cut?: boolean;
  /** So many operations may have to start again although no connection was cut. */
  readonly lost?: number;
  /**
   * Every answer comes within this time; time for what is lost starts at the cut, and has no limit.
   */
  readonly withinMs: number;
  /** Instead of `withinMs` if new tokens may have waited to be stored. */
  readonly storedWithinMs?: number;
}

export interface Window {
  readonly name: string;
  readonly promised: Promised;
  readonly from: number;
  readonly to: number;
}

const BETWEEN: Promised = { text: "every request is answered", withinMs: 10_000 };

/** One tally for each window, in order, and the last for the time between. */
export function tally(seen: readonly Seen[], windows: readonly Window[]): readonly Tally[] {
  const isIn = ({ from, to }: Seen, window: Window): boolean => from <= window.to && to >= window.from;
  const byWindow = Map.groupBy(seen, (one) => {
    const met = windows.filter((window) => isIn(one, window));
    return met.find(({ promised }) => isPromised(one, promised) && isInTime(one, promised)) ?? met[0];
  });
  const times = seen.flatMap(({ from, to }) => [from, to]);
  const start = times.reduce((least, time) => Math.min(least, time), Infinity);
  const end = times.reduce((most, time) => Math.max(most, time), -Infinity);
  const inWindows = windows.reduce((sum, { from, to }) => sum + to - from, 0);
  const rest = seen.length === 0 ? 0 : Math.max(0, end - start - inWindows);
  return [
    ...windows.map((window) => tallyOf(window, window.to - window.from, byWindow.get(window) ?? [])),
    tallyOf({ name: "between", promised: BETWEEN }, rest, byWindow.get(undefined) ?? []),
  ];
}

export type Tally = ReturnType<typeof tallyOf>;
function tallyOf({ name, promised }: Pick<Window, "name" | "promised">, milliseconds: number, seen: readonly Seen[]) {
  const counts = { answered: 0, deferred: 0, cut: 0, lost: 0, failed: 0 };
  const kinds = new Map<string, number>();
  const breaks = (what: string): void => void kinds.set(what, (kinds.get(what) ?? 0) + 1);
  let longestMs = 0;
  for (const one of seen) {
    counts[one.outcome] += 1;
    longestMs = Math.max(longestMs, one.to - one.from);
    const what = `${one.operation}: ${one.detail ?? one.outcome}`;
    if (!isPromised(one, promised)) breaks(what);
    else if (!isInTime(one, promised)) breaks(`${what} after more than ${limitMs(one, promised)} ms`);
  }
  const broken = [...kinds].map(([what, count]) => `${count} × ${what}`);
  // Beyond the promised number an operation starts again only for a connection that was cut under
  // it.
  const { lost = 0 } = promised;
  if (counts.lost > counts.cut + lost) {
    broken.push(`${counts.lost} operations started anew, ${counts.cut} connections cut`);
  }
  if (seen.length === 0) broken.push("no request was under way");
  /** `broken`: what broke the promise, each kind once with its number. Empty: it was kept. */
  return { name, promised, seconds: milliseconds / 1000, counts, longestMs, broken };
}

function isPromised({ outcome, operation }: Seen, { deferred = [], cut = false, lost = 0 }: Promised): boolean {
  const allowed: Readonly<Record<Outcome, boolean>> = {
    answered: true,
    deferred: deferred.includes(operation),
    cut,
    lost: cut || lost > 0,
    failed: false,
  };
  return allowed[outcome];
}

function isInTime(one: Seen, promised: Promised): boolean {
  return one.outcome === "lost" || one.to - one.from <= limitMs(one, promised);
}

function limitMs({ mayStore = false }: Seen, { withinMs, storedWithinMs = withinMs }: Promised): number {
  return mayStore ? storedWithinMs : withinMs;
}

/** As lines: a table, and below it what broke each promise. */
export function report(tallies: readonly Tally[]): string {
  const head = ["window", "s", "answered", "deferred", "cut", "lost", "failed", "longest", "promised"];
  const rows = tallies.map(({ name, seconds, counts, longestMs, promised, broken }) => [
    name,
    seconds.toFixed(0),
    ...Object.values(counts).map(String),
    `${Math.round(longestMs)} ms`,
    `${broken.length === 0 ? "kept" : "BROKEN"}: ${promised.text}`,
  ]);
  const broken = tallies.flatMap((one) => one.broken.map((what) => `BROKEN in ${one.name}: ${what}`));
  return [alignTable([head, ...rows]), ...broken].join("\n");
}
