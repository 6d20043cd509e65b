/**
 * Commands of `token-store` in this process: rows in memory, keys in memory, a clock and a sleep
 * that take no time.
 */
import { Secret, systemTimer } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { STANDALONE } from "../cli/arguments.ts";
import type { Checkpoint, Standing } from "../cli/checkpoint.ts";
import type { Report } from "../cli/report.ts";
import type { CommandDeps } from "../cli/walk.ts";
import { createDataKeys, type DataKeys } from "../keys/data-keys.ts";
import { bridge } from "../modes/bridge.ts";
import { modeNamed } from "../modes/mode-choice.ts";
import { createTokenRecords } from "../tokens/row-records.ts";
import { memoryTokenRows } from "../storage/memory/token-rows.ts";
import type { Attributes, TokenRows } from "../storage/token-rows.ts";
import { type ModeName, rowKeyOf } from "../tokens/token-attributes.ts";
import type { TokenRecords } from "../tokens/token-records.ts";
import type { TokenKey } from "../tokens/tokens.ts";
import { type CountingWrapper, countingWrapper } from "./aws/counting-wrapper.ts";

export const NOW = 1_700_000_000;
export const VENDOR = "example";
export const ISSUER = "https://issuer.example";
export const ENVIRONMENT = "test";

/** The tokens of the rows of `copiesFixture`; `tableText` shows them while they are plaintext. */
export const TOKENS = {
  accessToken: new Secret("plain-at"),
  refreshToken: new Secret("plain-rt"),
  tokenType: "Bearer",
};
const OPTIONS = { issuers: new Map([[VENDOR, ISSUER]]), rate: 100, dryRun: false };
/** What the commands are run with. */
export const AUDIT = { ...OPTIONS, byVendor: false, verify: false, list: undefined };
export const MIGRATE = { ...OPTIONS, rewrap: false, skipIssuerCheck: false };
export const STRIP = { ...OPTIONS, mode: "encrypted" } as const;

export const keyOf = (user: string, vendor = VENDOR): TokenKey => ({ user, vendor, issuer: ISSUER });

/** A row as builds before encryption write it. */
export const olderRow = (user: string, write = 1): Attributes => ({
  access_token: `plain-at-${user}-${write}`,
  refresh_token: `plain-rt-${user}-${write}`,
  token_type: "Bearer",
  scope: "a b",
  expires_at: NOW + 3600,
  updated_at: NOW - 10_000 + write,
});

export interface CliFixture {
  readonly rows: TokenRows;
  readonly keys: CountingWrapper["state"];
  /** Unless another is passed in. */
  readonly checkpoint: ReturnType<typeof memoryCheckpoint>;
  readonly clock: ReturnType<typeof fixedClock>;
  readonly reports: Report[];
  readonly stop: AbortController;
  readonly deps: CommandDeps & { readonly dataKeys: DataKeys; readonly checkpoint: Checkpoint };
  /** Milliseconds that were slept so far. */
  slept(): number;
  /** The records of servers, in the same table. */
  records(mode: ModeName): TokenRecords;
  older(user: string, attributes?: Attributes, vendor?: string): Promise<void>;
  attributes(user: string, vendor?: string): Promise<Attributes | undefined>;
}

/** What outlives a process is passed in. */
interface CliFixtureOptions {
  readonly rows?: TokenRows;
  readonly checkpoint?: Checkpoint;
  readonly keys?: CountingWrapper;
}

export function cliFixture(options: CliFixtureOptions = {}): CliFixture {
  const { rows = memoryTokenRows({ table: "tokens" }), keys: service = countingWrapper() } = options;
  const checkpoint = memoryCheckpoint();
  const clock = fixedClock(NOW);
  const context = { purpose: "test" };
  const dataKeys = createDataKeys({ keys: service.keys, context, now: clock, timer: systemTimer });
  const reports: Report[] = [];
  const stop = new AbortController();
  let elapsed = 0;
  const common = { rows, environment: ENVIRONMENT, now: clock };
  return {
    rows,
    keys: service.state,
    checkpoint,
    clock,
    reports,
    stop,
    deps: {
      ...common,
      dataKeys,
      checkpoint: options.checkpoint ?? checkpoint,
      recordsFor: (given, onEvent) => createTokenRecords({ ...common, rows: given, dataKeys, mode: bridge, onEvent }),
      sleep: async (ms) => {
        elapsed += ms;
        clock.advance(Math.ceil(ms / 1000) * Number(ms >= 1000));
      },
      elapsedMs: () => elapsed,
      signal: stop.signal,
      report: (report) => void reports.push(report),
      program: STANDALONE,
    },
    slept: () => elapsed,
    records: (mode) => createTokenRecords({ ...common, dataKeys, mode: modeNamed(mode, { hasKeys: true }) }),
    older: async (user, attributes = olderRow(user), vendor = VENDOR) => {
      await rows.change(rowKeyOf({ user, vendor }), { set: attributes }, {});
    },
    attributes: async (user, vendor = VENDOR) => (await rows.get(rowKeyOf({ user, vendor })))?.attributes,
  };
}

/** For a run during which something happens as soon as so many rows of a pass are done. */
export function atProgress({ deps }: CliFixture, pass: number, done: number, happens: () => void): CliFixture["deps"] {
  const report: CommandDeps["report"] = (one) => {
    deps.report(one);
    if (one.event === "progress" && one.pass === pass && one.done === done) happens();
  };
  return { ...deps, report };
}

/** For a run that is stopped then. */
export const stopAt = (fixture: CliFixture, pass: number, done: number): CliFixture["deps"] =>
  atProgress(fixture, pass, done, () => fixture.stop.abort("SIGTERM"));

/** For the run after one that was stopped. */
export function runAgain({ deps }: CliFixture): CliFixture["deps"] {
  return { ...deps, signal: new AbortController().signal };
}

/** Keeps the last saved state, as a file would. */
export function memoryCheckpoint(): Checkpoint & { kept: Standing | undefined; readonly saved: Standing[] } {
  const checkpoint = {
    kept: undefined as Standing | undefined,
    saved: [] as Standing[],
    load: async () => checkpoint.kept,
    save: async (standing: Standing) => {
      checkpoint.kept = standing;
      checkpoint.saved.push(standing);
    },
    remove: async () => {
      checkpoint.kept = undefined;
    },
  };
  return checkpoint;
}

/** With rows as builds before encryption write them. */
export async function olderFixture(count: number): Promise<CliFixture> {
  const fixture = cliFixture();
  for (let i = 0; i < count; i += 1) await fixture.older(`u${i}`);
  return fixture;
}

/** With rows of mode bridge: sealed, with a plaintext copy beside. */
export async function copiesFixture(count: number): Promise<CliFixture> {
  const fixture = cliFixture();
  for (let i = 0; i < count; i += 1) await fixture.records("bridge").replace(keyOf(`u${i}`), TOKENS);
  return fixture;
}

/** All rows, as one who reads the table sees them. */
export async function tableText({ rows }: CliFixture): Promise<string> {
  return JSON.stringify(await rows.scan({ limit: 10_000 }));
}
