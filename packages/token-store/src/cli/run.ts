/**
 * Runs one command line: reads the same environment as the server, opens table and key, shows
 * progress and result, and returns the exit code. main.ts passes the process in; tests, and
 * commands that know their issuer, call it directly.
 */
import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { defined, OAuthError, systemClock, systemTimer } from "@oauth-broker/oauth-core";
import {
  openKeys,
  openTokenRows,
  readTokenStoreSettings,
  requireStoreFile,
  type TokenStoreSettings,
} from "../config.ts";
import { createDataKeys } from "../keys/data-keys.ts";
import { TokenStoreError } from "../errors.ts";
import { bridge } from "../modes/bridge.ts";
import { olderReadersUntil } from "../modes/older-readers.ts";
import { createTokenRecords } from "../tokens/row-records.ts";
import type { TokenRows } from "../storage/token-rows.ts";
import { dataKeyContext } from "../token-store.ts";
import { type Command, parseCommand, type Program, STANDALONE } from "./arguments.ts";
import { audit } from "./audit.ts";
import { fileCheckpoint } from "./checkpoint.ts";
import { migrate } from "./migrate.ts";
import { RUN_AGAIN } from "./advice.ts";
import { type CommandDeps, isOutage, SURVEY_PAGE } from "./walk.ts";
import { createProgress, type Ending, type Result, resultText } from "./report.ts";
import { knownRow, type RowKind } from "./row-kinds.ts";
import { strip } from "./strip.ts";

export type { Program } from "./arguments.ts";

const EXIT_CODES: Readonly<Record<Exclude<Ending, "interrupted">, number>> = {
  done: 0,
  refused: 1,
  plaintext_left: 3,
  unreadable_found: 4,
};
const FAILED = 1;

/** Where output goes: `process.stdout`, `process.stderr`, or a fake. */
export interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** What a command line needs of its process. */
export interface RunDeps {
  readonly stdout: Stream;
  readonly stderr: Stream;
  /** Its `reason` is the signal's name. */
  readonly signal: AbortSignal;
  /** Default: that of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Default: `token-store` itself, which knows no issuer. */
  readonly program?: Program;
}

/** @returns the exit code */
export async function runCommandLine(args: readonly string[], deps: RunDeps): Promise<number> {
  const { stderr, environment, program } = deps;
  const command = parseCommand(args, program);
  if ("exitCode" in command) {
    deps[command.stream].write(`${command.text}\n`);
    return command.exitCode;
  }
  try {
    const settings = readTokenStoreSettings({}, environment);
    requireStoreFile(settings);
    return await runOn(command, settings, deps);
  } catch (error) {
    stderr.write(`token-store: ${explanation(error)}\n`);
    return FAILED;
  }
}

async function runOn(command: Command, settings: TokenStoreSettings, deps: RunDeps): Promise<number> {
  const { stdout, stderr, signal, program = STANDALONE } = deps;
  const rows = await openTokenRows(settings);
  try {
    // A table that is missing or forbidden is an error at once, not an outage to wait for.
    await olderReadersUntil({ rows, now: systemClock });
    const { elapsedMs } = systemTimer;
    const { columns = 0 } = stderr;
    const isBar = stderr.isTTY === true && !command.options.json;
    const progress = createProgress({
      style: isBar ? "bar" : "lines",
      write: (text) => void (isBar ? stderr : stdout).write(text),
      // A terminal that was given no size has 0.
      columns: columns === 0 ? 80 : columns,
      elapsedMs,
    });
    const dataKeys = needsKeys(command) ? await openDataKeys(settings, rows) : undefined;
    const { environment } = settings;
    const walking: CommandDeps = {
      rows,
      dataKeys,
      environment,
      recordsFor: (given, onEvent) =>
        createTokenRecords({ rows: given, dataKeys, mode: bridge, environment, now: systemClock, onEvent }),
      now: systemClock,
      sleep: (ms) => wait(ms, undefined, { signal }).catch(() => undefined),
      elapsedMs,
      signal,
      report: (report) => {
        if (report.event === "row") stdout.write(`${JSON.stringify(report)}\n`);
        else progress.show(report);
      },
      program,
    };
    try {
      const result = await perform(command, settings, walking);
      progress.end();
      return show(result, command, deps);
    } catch (error) {
      // The run was stopped while it waited for a table or key service that is unavailable.
      if (!signal.aborted || !isOutage(error)) throw error;
      stderr.write(`token-store: ${error.operatorText}. ${RUN_AGAIN}\n`);
      return interruptedBy(signal);
    } finally {
      progress.end();
      dataKeys?.close();
    }
  } finally {
    await rows.close();
  }
}

function perform({ name, options }: Command, { mode }: TokenStoreSettings, deps: CommandDeps): Promise<Result> {
  const { dataKeys, rows, environment } = deps;
  if (name === "audit") return audit(options, deps);
  if (dataKeys === undefined) throw noKey();
  const { checkpoint: file, issuers } = options;
  const identity = { command: name, table: rows.table, environment, issuers: Object.fromEntries(issuers) };
  const checkpoint = file === undefined ? undefined : fileCheckpoint(file, identity);
  const writing = { ...deps, dataKeys, checkpoint };
  return name === "strip" ? strip({ ...options, mode }, writing) : migrate(options, writing);
}

function needsKeys(command: Command): boolean {
  return command.name !== "audit" || command.options.verify;
}

/** @throws TokenStoreError when no key is configured, or it may not be used */
async function openDataKeys(settings: TokenStoreSettings, rows: TokenRows): Promise<CommandDeps["dataKeys"]> {
  const { keys: place } = settings;
  // A key made now would open nothing here, and take the place of the lost key.
  if (place?.kind === "file" && !existsSync(place.path) && (await hasSealedRows(rows)))
    throw new TokenStoreError("settings_invalid", { detail: `the key file ${place.path} is missing: restore it` });
  const keys = await openKeys(settings, rows.table);
  if (keys === undefined) throw noKey();
  const context = dataKeyContext({ environment: settings.environment, table: rows.table });
  return createDataKeys({ keys, context, now: systemClock, timer: systemTimer });
}

function noKey(): TokenStoreError {
  const detail = "TOKEN_ENCRYPTION_KMS_KEY_ID is needed: there is nothing to seal or open with";
  return new TokenStoreError("settings_invalid", { detail });
}

/** Where an older build left only plaintext, migrate is the first to need a key. */
async function hasSealedRows(rows: TokenRows): Promise<boolean> {
  let cursor: string | undefined;
  do {
    // oxlint-disable-next-line no-await-in-loop
    const page = await rows.scan({ limit: SURVEY_PAGE, ...defined({ cursor }) });
    if (page.rows.some((row) => SEALED.has(knownRow(row, 0).kind))) return true;
    ({ cursor } = page);
  } while (cursor !== undefined);
  return false;
}

const SEALED: ReadonlySet<RowKind> = new Set<RowKind>(["both", "ciphertext_only", "broken"]);

function show(result: Result, command: Command, { stdout, stderr, signal }: RunDeps): number {
  const { ending, next } = result;
  const isText = stdout.isTTY === true && !command.options.json;
  stdout.write(`${isText ? resultText(result) : JSON.stringify({ event: "result", ...result })}\n`);
  if (ending === "refused" || ending === "interrupted") {
    if (!isText) for (const sentence of next) stderr.write(`token-store: ${sentence}\n`);
  }
  return ending === "interrupted" ? interruptedBy(signal) : EXIT_CODES[ending];
}

function interruptedBy({ reason }: AbortSignal): number {
  return reason === "SIGINT" ? 130 : 143;
}

function explanation(error: unknown): string {
  if (error instanceof OAuthError) return error.operatorText;
  return error instanceof Error ? error.message : "an unknown failure";
}
