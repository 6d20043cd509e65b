/**
 * Parses the command line: what to do, or what was wrong with it. Runs and prints nothing; run.ts
 * does.
 */
import {
  type Given,
  namedValues,
  readCommand,
  type UsageAnswer,
  wholeNumber,
} from "@oauth-broker/oauth-core/command-line";
import { ROW_KINDS } from "./row-kinds.ts";
import manifest from "../../package.json" with { type: "json" };

/** The program whose command line this is. */
export interface Program {
  /** What the operator types before `audit`. */
  readonly name: string;
  /**
   * The issuers in its settings, by vendor: those its servers seal for. An `--issuer` for the same
   * vendor replaces one.
   */
  readonly issuers: ReadonlyMap<string, string>;
}

/** The program of this package, which knows no vendor. */
export const STANDALONE: Program = { name: "token-store", issuers: new Map() };

/** The options of all commands; those that do not go with a command have their default. */
export interface Options {
  /** The issuer that the fields of each vendor's rows are bound to; the rows do not store it. */
  readonly issuers: ReadonlyMap<string, string>;
  /** The maximum number of rows processed per second. */
  readonly rate: number;
  readonly json: boolean;
  readonly byVendor: boolean;
  readonly verify: boolean;
  /** Show the users of the rows of this kind. */
  readonly list: ListKind | undefined;
  readonly dryRun: boolean;
  /** Path of the checkpoint file. */
  readonly checkpoint: string | undefined;
  readonly rewrap: boolean;
  readonly skipIssuerCheck: boolean;
}

/** `unreadable` and `differs` are known only after a row is opened. */
const LIST_KINDS = [...ROW_KINDS.filter((kind) => kind !== "other"), "unreadable", "differs"] as const;
type ListKind = (typeof LIST_KINDS)[number];

const COMMANDS = ["audit", "migrate", "strip"] as const;
type CommandName = (typeof COMMANDS)[number];

export interface Command {
  readonly name: CommandName;
  readonly options: Options;
}

const MOST_PER_SECOND = 10_000;

const OPTIONS = {
  issuer: { type: "string", multiple: true },
  rate: { type: "string" },
  json: { type: "boolean" },
  "by-vendor": { type: "boolean" },
  verify: { type: "boolean" },
  list: { type: "string" },
  checkpoint: { type: "string" },
  "dry-run": { type: "boolean" },
  rewrap: { type: "boolean" },
  "skip-issuer-check": { type: "boolean" },
} as const;

type OptionName = keyof typeof OPTIONS;

const COMMON: readonly OptionName[] = ["issuer", "rate", "json"];
const ALLOWED: Readonly<Record<CommandName, readonly OptionName[]>> = {
  audit: [...COMMON, "by-vendor", "verify", "list"],
  migrate: [...COMMON, "checkpoint", "dry-run", "rewrap", "skip-issuer-check"],
  strip: [...COMMON, "checkpoint", "dry-run"],
};

/** @param args without the program and the script, as in `process.argv.slice(2)` */
export function parseCommand(args: readonly string[], program = STANDALONE): Command | UsageAnswer {
  const about = { program: program.name, help: HELP, version: manifest.version, commands: COMMANDS };
  return readCommand(args, OPTIONS, about, (given) => commandOf(given, program));
}

function commandOf({ words: [word, ...rest], values }: Given<typeof OPTIONS>, program: Program): Command {
  const name = COMMANDS.find((one) => one === word);
  if (name === undefined) throw new Error("a command is missing: audit, migrate or strip");
  if (rest.length > 0) throw new Error(`${name} takes no arguments`);
  for (const option of Object.keys(values) as OptionName[]) {
    if (!ALLOWED[name].includes(option)) throw new Error(`--${option} does not go with ${name}`);
  }
  const { json = false, verify = false, rewrap = false, checkpoint } = values;
  const {
    "by-vendor": byVendor = false,
    "dry-run": dryRun = false,
    "skip-issuer-check": skipIssuerCheck = false,
  } = values;
  const issuers = new Map([...program.issuers, ...namedValues("--issuer", "VENDOR=ISSUER", values.issuer ?? [])]);
  const rate = wholeNumber("--rate", values.rate ?? "100", 1, MOST_PER_SECOND);
  const list = listOf(values.list, verify);
  if (name !== "audit" || verify) requireIssuers(issuers, verify ? "audit --verify" : name, program);
  if (dryRun && checkpoint !== undefined)
    throw new Error("a dry run leaves no checkpoint: drop one of the two options");
  if (checkpoint === "") throw new Error("--checkpoint takes the path of a file");
  const options = { issuers, rate, json, byVendor, verify, list, dryRun, checkpoint, rewrap, skipIssuerCheck };
  return { name, options };
}

function listOf(word: string | undefined, verify: boolean): ListKind | undefined {
  if (word === undefined) return undefined;
  const kind = LIST_KINDS.find((one) => one === word);
  if (kind === undefined) throw new Error(`--list takes one of ${LIST_KINDS.join(", ")}`);
  if ((kind === "unreadable" || kind === "differs") && !verify)
    throw new Error(`--list ${kind} goes with --verify only`);
  return kind;
}

function requireIssuers(issuers: ReadonlyMap<string, string>, what: string, { name }: Program): void {
  if (issuers.size > 0) return;
  throw new Error(
    `${what} needs --issuer VENDOR=ISSUER for each vendor of the table; '${name} audit --by-vendor' names them`,
  );
}

/** The text of `token-store --help`. docs/token-encryption.md is the long form. */
const HELP = `Usage: token-store COMMAND [OPTIONS]

Takes a table of users' tokens from plaintext to ciphertext. docs/token-encryption.md says when to run what.

Commands
  audit            count the rows by kind; changes nothing
  migrate          seal the rows that are plaintext only, and those whose copy an older build has changed
  strip            remove the plaintext copies, also from the freed space and the log of a SQLite file; refused until
                   TOKEN_ENCRYPTION_MODE is encrypted, no server declares older readers, and no row is plaintext only

Options
  --issuer VENDOR=ISSUER
                   what the rows of a vendor are bound to: its issuer, or the host of its token endpoint if it has none.
                   Again for every vendor; rows of others are counted and left alone
  --rate N         rows worked on per second at most, default 100; ten times as many are read
  --json           JSON lines on a terminal too
  -h, --help       this text
  -v, --version    the version

audit
  --by-vendor      counts for each vendor as well
  --verify         open every sealed row through the key service; count those that do not open or whose copy differs
  --list KIND      a JSON line for each row of that kind, with its user and vendor: plaintext_only, both, ciphertext_only,
                   broken, empty, expired; with --verify also unreadable, differs

migrate, strip
  --dry-run        count what would be done; change nothing
  --checkpoint FILE
                   keep the progress in this file, and resume from it. Without it a new run starts from the first row,
                   which is safe and takes longer

migrate
  --rewrap         also seal again what is sealed under a former KMS key
  --skip-issuer-check
                   do not require that a row sealed by a server opens with the given issuer; without it the rows of a
                   vendor of which none does are left

Environment: as for the server
  DB_TABLE_NAME, DB_TABLE_REGION
                   the table; without it the SQLite file in DATA_DIR, default ./data
  TOKEN_ENCRYPTION_KMS_KEY_ID
                   the key; needed for all but audit without --verify
  TOKEN_ENCRYPTION_MODE
                   what the servers run with, bridge or encrypted
  AWS_...          the AWS SDK's own: credentials without a role, AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL_KMS

Progress is a bar if stderr is a terminal, else JSON lines on stdout. The result is text on a terminal, else JSON.

Exit codes
  0                done; audit: no row is plaintext only
  1                it could not be done; stderr says why
  2                the command line is not understood
  3                plaintext is left: audit and migrate, rows that are plaintext only; strip, any token that can be read
  4                audit --verify: rows that do not open, or whose copy differs
  130, 143         interrupted by SIGINT, SIGTERM; stderr says how to go on`;
