/**
 * The token store a deployed server opens from its environment: DynamoDB and KMS if the platform
 * provides them, an SQLite file and a key file beside it for local work. The SDK loads only if
 * it is used.
 */
import { defined, systemClock, systemTimer } from "@oauth-broker/oauth-core";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Clock, KeyWrapper } from "@oauth-broker/oauth-core";
import { TokenStoreError } from "./errors.ts";
import { parseKeyReference } from "./keys/kms-key-id.ts";
import { chooseMode, modeNamed } from "./modes/mode-choice.ts";
import { type StorageTiming, timed } from "./storage/timed.ts";
import type { TokenRows } from "./storage/token-rows.ts";
import { isRegionName, isTableName } from "./table-name.ts";
import type { ModeName } from "./tokens/token-attributes.ts";
import { createTokenStore, dataKeyContext, type TokenStore, type TokenStoreEvent } from "./token-store.ts";

/** What the environment variables name: the table or file, the key, the mode. */
export interface TokenStoreSettings {
  readonly mode: ModeName;
  readonly rows:
    | { readonly kind: "dynamodb"; readonly table: string; readonly region: string }
    | { readonly kind: "sqlite"; readonly path: string };
  /** What tokens are bound to in addition to the table: its region, or `local`. */
  readonly environment: string;
  /** Where a vendor's responses wait while the table cannot store them. Its content is sealed. */
  readonly journalFolder: string;
  readonly keys:
    | { readonly kind: "kms"; readonly keyId: string }
    | { readonly kind: "file"; readonly path: string }
    | undefined;
}

/** What the code decides and the environment does not. */
export interface OpenTokenStoreOptions {
  /** Applies only while TOKEN_ENCRYPTION_MODE is unset; both set and different is refused. */
  readonly mode?: string;
  readonly now?: Clock;
  readonly onEvent?: (event: TokenStoreEvent) => void;
  /** Receives the duration of every call to the table or file, and to the key service. */
  readonly onTiming?: (timing: StorageTiming) => void;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads DB_TABLE_NAME, DB_TABLE_REGION, TOKEN_ENCRYPTION_KMS_KEY_ID, TOKEN_ENCRYPTION_MODE and
 * DATA_DIR. Opens nothing.
 *
 * @throws TokenStoreError key_id_invalid, mode_conflict, key_missing; settings_invalid for the
 *   rest, and for several problems at once
 */
export function readTokenStoreSettings(
  { mode: inCode }: { readonly mode?: string | undefined } = {},
  environment: Environment = process.env,
): TokenStoreSettings {
  const value = (name: string): string | undefined => (environment[name] === "" ? undefined : environment[name]);
  const [table, region] = [value("DB_TABLE_NAME"), value("DB_TABLE_REGION")];
  const keyId = value("TOKEN_ENCRYPTION_KMS_KEY_ID");
  // A table may have older readers. A local file has none, and a key file beside it costs nothing.
  const fallback = table === undefined ? "encrypted" : "bridge";
  const mode = allOrThrow([
    () => requireTable(table, region),
    () => keyId !== undefined && parseKeyReference(keyId, region),
    () => {
      const chosen = chooseMode(inCode, value("TOKEN_ENCRYPTION_MODE"), fallback);
      if (table !== undefined) modeNamed(chosen, { hasKeys: keyId !== undefined });
      return chosen;
    },
  ]);

  const dataFolder = resolve(value("DATA_DIR") ?? "data");
  const path = join(dataFolder, "tokens.sqlite");
  const hasTable = table !== undefined && region !== undefined;
  const keyFile = hasTable ? undefined : ({ kind: "file", path: `${path}.key` } as const);
  return {
    mode,
    rows: hasTable ? { kind: "dynamodb", table, region } : { kind: "sqlite", path },
    environment: hasTable ? region : "local",
    journalFolder: join(dataFolder, "token-journal"),
    keys: keyId === undefined ? keyFile : { kind: "kms", keyId },
  };
}

function requireTable(table: string | undefined, region: string | undefined): void {
  const hasTable = table !== undefined;
  const hasRegion = region !== undefined;
  const problems = [
    hasTable && !hasRegion && "DB_TABLE_REGION is needed beside DB_TABLE_NAME, such as eu-west-1",
    !hasTable && hasRegion && "DB_TABLE_REGION is set without DB_TABLE_NAME",
    hasTable && !isTableName(table) && "DB_TABLE_NAME is not a table's name",
    hasRegion && !isRegionName(region) && "DB_TABLE_REGION is not a region, such as eu-west-1",
  ].filter((problem) => problem !== false);
  if (problems.length > 0) throw new TokenStoreError("settings_invalid", { detail: problems.join("; ") });
}

/**
 * Runs every check, so that one problem does not hide the next.
 *
 * @returns what the last check returns
 * @throws TokenStoreError the one that was thrown, or settings_invalid naming all of them
 */
function allOrThrow<Last>(checks: readonly [...(() => unknown)[], () => Last]): Last {
  const errors: TokenStoreError[] = [];
  let last: unknown;
  for (const check of checks) {
    try {
      last = check();
    } catch (error) {
      if (!(error instanceof TokenStoreError)) throw error;
      errors.push(error);
    }
  }
  const [first, ...others] = errors;
  if (first === undefined) return last as Last;
  if (others.length === 0) throw first;
  throw new TokenStoreError("settings_invalid", { detail: errors.flatMap(settingsProblems).join("; ") });
}

/**
 * @param error of readTokenStoreSettings
 * @returns a sentence for each problem, which begins with the variable it is about
 */
export function settingsProblems({ code, detail, message }: TokenStoreError): readonly string[] {
  if (code === "key_id_invalid") return [`TOKEN_ENCRYPTION_KMS_KEY_ID names no key: ${detail ?? ""}`];
  if (code === "key_missing") return ["TOKEN_ENCRYPTION_KMS_KEY_ID is missing, and TOKEN_ENCRYPTION_MODE is encrypted"];
  return (detail ?? message).split("; ");
}

/**
 * Opens the store, and makes one data key to check that the key may be used. A store or key service
 * that is down does not fail here.
 *
 * @throws TokenStoreError as readTokenStoreSettings; `key_service_refused` for a key that may not
 *   be used
 */
export async function openTokenStore(options: OpenTokenStoreOptions = {}): Promise<TokenStore> {
  const settings = readTokenStoreSettings({ mode: options.mode }, options.environment);
  return (await openTokens(settings, options)).tokens;
}

/**
 * @returns the store with its keys and its table: other data kept beside the tokens is sealed under
 *   the same keys
 * @throws TokenStoreError key_service_refused
 */
export async function openTokens(
  settings: TokenStoreSettings,
  { now = systemClock, onEvent, onTiming }: Pick<OpenTokenStoreOptions, "now" | "onEvent" | "onTiming">,
): Promise<{ readonly tokens: TokenStore; readonly keys: KeyWrapper | undefined; readonly table: string }> {
  const rows = timed(await openTokenRows(settings), "tokens", onTiming);
  const opened = await openKeys(settings, rows.table);
  const keys = opened && timed(opened, "keys", onTiming);
  const { mode, environment } = settings;
  const tokens = createTokenStore({
    rows,
    keys,
    mode,
    environment,
    now,
    timer: systemTimer,
    ...defined({ onEvent }),
    refresh: { journalFolder: settings.journalFolder },
  });
  return { tokens, keys, table: rows.table };
}

export async function openTokenRows({ rows }: Pick<TokenStoreSettings, "rows">): Promise<TokenRows> {
  if (rows.kind === "sqlite") {
    const { sqliteTokenRows } = await import("./storage/sqlite/token-rows.ts");
    return sqliteTokenRows({ path: rows.path });
  }
  const { dynamodbTokenRows } = await import("./storage/dynamodb/token-rows.ts");
  return dynamodbTokenRows({ table: rows.table, region: rows.region });
}

/** @throws TokenStoreError key_service_refused */
export async function openKeys(settings: TokenStoreSettings, table: string): Promise<KeyWrapper | undefined> {
  const { keys, rows, environment } = settings;
  if (keys === undefined) return undefined;
  if (keys.kind === "file") {
    const { localKeyWrapper } = await import("./keys/local.ts");
    return localKeyWrapper({ path: keys.path });
  }
  const { kmsKeyWrapper } = await import("./keys/kms.ts");
  const region = rows.kind === "dynamodb" ? { region: rows.region } : {};
  const wrapper = kmsKeyWrapper({ keyId: keys.keyId, ...region });
  await wrapper.check(dataKeyContext({ environment, table })).catch((error: unknown) => {
    // An outage passes; a wrong key does not.
    if (error instanceof TokenStoreError) throw error;
  });
  return wrapper;
}

/**
 * For commands: SQLite would create the file, and a mistyped path must not look like an empty
 * table.
 *
 * @throws TokenStoreError settings_invalid
 */
export function requireStoreFile({ rows }: Pick<TokenStoreSettings, "rows">): void {
  if (rows.kind === "dynamodb" || existsSync(rows.path)) return;
  throw new TokenStoreError("settings_invalid", {
    detail: `there is no file ${rows.path}: set DB_TABLE_NAME and DB_TABLE_REGION, or DATA_DIR to the server's`,
  });
}
