/**
 * The progress of a run, as a file: written whole after every page, so that a process that is
 * killed loses one page. Holds no token; the cursor is the key of a row and so names a user, hence
 * the file is readable by its owner only.
 */
import { readFile, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { writeWhole } from "../storage/write-whole.ts";
import { ISSUER_PROBLEMS, type RefusedIssuers } from "./issuers/check.ts";

const FORMAT = 1;

/** What a run must have in common with the previous one to continue from its checkpoint. */
export interface RunIdentity {
  readonly command: string;
  readonly table: string;
  readonly environment: string;
  readonly issuers: Readonly<Record<string, string>>;
}

export interface Standing {
  /** Seconds since 1970: when the first run began. */
  readonly startedAt: number;
  /** From 1. */
  readonly pass: number;
  /** Where the next page begins; absent before the first. */
  readonly cursor?: string;
  /** Rows of the pages before it. */
  readonly done: number;
  /** Rows of the table when they were counted. */
  readonly total: number;
  /** Whether this pass has met a row that requires another pass. */
  readonly again: boolean;
  /** What was done, over all passes. */
  readonly counts: Readonly<Record<string, number>>;
  /** What was left unchanged, in this pass. */
  readonly left: Readonly<Record<string, number>>;
  /** Of migrate: found before the first pass, and not looked for again. */
  readonly refused?: RefusedIssuers;
}

export interface Checkpoint {
  /**
   * @returns undefined without a file.
   * @throws Error with a sentence for the operator: the file is not a checkpoint, or belongs to
   *   another run
   */
  load(): Promise<Standing | undefined>;
  save(standing: Standing): Promise<void>;
  remove(): Promise<void>;
}

export function fileCheckpoint(path: string, identity: RunIdentity): Checkpoint {
  const file = resolve(path);
  return {
    load: async () => {
      const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw new Error(`The checkpoint ${file} cannot be read (${error.code ?? "unknown"})`, { cause: error });
      });
      return text === undefined ? undefined : standingIn(text, file, identity);
    },
    save: async (standing) => {
      try {
        await writeWhole(file, `${JSON.stringify({ format: FORMAT, ...identity, standing })}\n`, rename);
      } catch (cause) {
        const { code = "unknown" } = cause as NodeJS.ErrnoException;
        throw new Error(`The checkpoint ${file} cannot be written (${code}): name another file`, { cause });
      }
    },
    remove: () => rm(file, { force: true }),
  };
}

function standingIn(text: string, file: string, identity: RunIdentity): Standing {
  const found = parse(text);
  const standing = found?.["standing"];
  if (found?.["format"] !== FORMAT || !isStanding(standing)) {
    throw new Error(
      `${file} is not a checkpoint of token-store: name another file, or delete it to start from the first row`,
    );
  }
  for (const [name, value] of Object.entries(identity)) {
    if (isDeepStrictEqual(found[name], value)) continue;
    throw new Error(
      `The checkpoint ${file} is of another run (${name} differs): name another file, or delete it to start from the first row`,
    );
  }
  return standing;
}

function isStanding(value: unknown): value is Standing {
  if (typeof value !== "object" || value === null) return false;
  const { startedAt, pass, cursor, done, total, again, counts, left, refused = {} } = value as Record<string, unknown>;
  return (
    [startedAt, pass, done, total].every(Number.isSafeInteger) &&
    (cursor === undefined || typeof cursor === "string") &&
    typeof again === "boolean" &&
    [counts, left].every(isCounts) &&
    isRefusedIssuers(refused)
  );
}

function isCounts(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.values(value).every(Number.isSafeInteger);
}

function isRefusedIssuers(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).every((problem) => ISSUER_PROBLEMS.some((one) => one === problem));
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
