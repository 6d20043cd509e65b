/**
 * The progress and the result of a command, and how they are shown: a bar that is redrawn on a
 * terminal, JSON lines every few seconds elsewhere; the result as text or JSON. No report holds a
 * token.
 */
import { printable } from "@oauth-broker/oauth-core/command-line";

export type Report =
  | {
      readonly event: "progress";
      readonly command: string;
      /** 0 while rows are only counted. */
      readonly pass: number;
      readonly done: number;
      /** Rows of the table; absent until they are counted. */
      readonly total?: number;
      readonly counts: Readonly<Record<string, number>>;
    }
  /** Only when requested: it names a user. */
  | { readonly event: "row"; readonly kind: string; readonly user: string; readonly vendor: string }
  | { readonly event: "waiting"; readonly reason: string; readonly detail: string; readonly seconds: number };

/** How a command ended: `plaintext_left` and `unreadable_found` are results, not failures. */
export type Ending = "done" | "plaintext_left" | "unreadable_found" | "refused" | "interrupted";

export interface Result {
  readonly command: "audit" | "migrate" | "strip";
  readonly ending: Ending;
  readonly table: string;
  readonly dryRun?: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly byVendor?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What to do next, or why it was refused: sentences for the operator. */
  readonly next: readonly string[];
}

/** A command that was stopped while it only counted. */
export const STOPPED = { ending: "interrupted", counts: {}, next: ["Nothing was changed: run it again."] } as const;

const BAR_WIDTH = 24;
const DRAW_EVERY_MS = 100;
const LINE_EVERY_MS = 5000;
/** Earlier, a rate is not meaningful. */
const STEADY_MS = 1000;

/** Rows that were requested belong to the result, not to the progress. */
type Shown = Exclude<Report, { readonly event: "row" }>;

export type Progress = ReturnType<typeof createProgress>;

export interface ProgressOptions {
  /** `bar` writes to a terminal, `lines` one JSON object per line. */
  readonly style: "bar" | "lines";
  readonly write: (text: string) => void;
  readonly columns: number;
  readonly elapsedMs: () => number;
}

export function createProgress({ style, write, columns, elapsedMs }: ProgressOptions) {
  let shownAt = Number.NEGATIVE_INFINITY;
  let shownPass: number | undefined;
  let began: { readonly at: number; readonly done: number } | undefined;
  let isDrawn = false;

  const clear = (): void => {
    if (isDrawn) write("\r\u001B[2K");
    isDrawn = false;
  };

  return {
    show: (report: Shown): void => {
      const now = elapsedMs();
      if (report.event === "waiting") {
        clear();
        const { reason, detail, seconds } = report;
        write(`${style === "bar" ? `waiting ${seconds} s (${reason}): ${detail}` : JSON.stringify(report)}\n`);
        return;
      }
      const isNewPass = report.pass !== shownPass;
      // A resumed run did not do the work of the one before it.
      if (isNewPass || began === undefined)
        began = { at: now, done: isNewPass && shownPass !== undefined ? 0 : report.done };
      const isDue = isNewPass || now - shownAt >= (style === "bar" ? DRAW_EVERY_MS : LINE_EVERY_MS);
      if (!isDue && report.done !== report.total) return;
      [shownAt, shownPass] = [now, report.pass];
      const speed = speedOf(report, began, now);
      if (style === "lines") {
        write(`${JSON.stringify({ ...report, ...speed })}\n`);
        return;
      }
      write(`\r\u001B[2K${bar(report, speed).slice(0, Math.max(1, columns - 1))}`);
      isDrawn = true;
    },
    /** Ends the bar's line. */
    end: (): void => {
      if (isDrawn) write("\n");
      isDrawn = false;
    },
  };
}

type ProgressReport = Extract<Report, { readonly event: "progress" }>;

interface Speed {
  readonly per_second?: number;
  readonly seconds_left?: number;
}

function speedOf(
  { done, total }: ProgressReport,
  began: { readonly at: number; readonly done: number },
  now: number,
): Speed {
  const ms = now - began.at;
  if (ms < STEADY_MS || done <= began.done) return {};
  const perSecond = ((done - began.done) * 1000) / ms;
  return {
    per_second: Math.round(perSecond),
    ...(total === undefined ? {} : { seconds_left: Math.ceil(Math.max(0, total - done) / perSecond) }),
  };
}

function bar({ command, pass, done, total, counts }: ProgressReport, speed: Speed): string {
  const { per_second: rate, seconds_left: left } = speed;
  const share = total === undefined || total === 0 ? undefined : Math.min(1, done / total);
  const filled = Math.round((share ?? 0) * BAR_WIDTH);
  return [
    pass === 0 ? `${command}: counting` : `${command}: pass ${pass}`,
    ...(share === undefined
      ? []
      : [`[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)} %`]),
    total === undefined ? `${number(done)} rows` : `${number(done)}/${number(total)} rows`,
    ...(rate === undefined ? [] : [`${number(rate)}/s`]),
    ...(left === undefined || left === 0 ? [] : [`${duration(left)} left`]),
    ...Object.entries(counts).flatMap(([name, count]) =>
      count > 0 ? [`${name.replaceAll("_", " ")} ${number(count)}`] : [],
    ),
  ].join("  ");
}

function number(value: number): string {
  return value.toLocaleString("en");
}

function duration(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

const LABELS: Readonly<Record<string, string>> = {
  marked_encrypted: "marked encrypted",
  other: "other rows",
  opens: "opened, copy the same",
  differs: "opened, copy differs",
  unreadable: "did not open",
};

/** A result as text for a person. Scripts read the JSON instead. */
export function resultText({ command, table, dryRun, counts, byVendor, next }: Result): string {
  const title = `${command}${dryRun === true ? ", dry run" : ""}: table ${table}`;
  const vendors = Object.entries(byVendor ?? {}).flatMap(([vendor, own]) => ["", `vendor ${vendor}`, ...lines(own)]);
  return [title, ...lines(counts), ...vendors, "", ...next].map(printable).join("\n");
}

function lines(counts: Readonly<Record<string, number>>): string[] {
  const entries = Object.entries(counts).map(
    ([name, count]) => [LABELS[name] ?? name.replaceAll("_", " "), count.toLocaleString("en")] as const,
  );
  const width = Math.max(0, ...entries.map(([, count]) => count.length)) + 2;
  return entries.map(([label, count]) => `  ${label.padEnd(24)}${count.padStart(width)}`);
}
