/**
 * The audit stream in a file. What is recorded in one turn of the event loop is written by one
 * system call, before the answers that wait for it go out. While the file cannot be written nothing
 * is recorded, and so nothing is answered; it recovers by itself. A file that was renamed or
 * removed is opened again under its name. Called by audit.ts.
 */
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { OAuthError } from "@oauth-broker/oauth-core";
import { type Head, hashOf, MARK, newChain, nextLine, NO_LINE } from "./chain.ts";

/** Where lines go. */
export interface AuditSink {
  /**
   * @param members what the line says, as JSON without braces
   * @returns when it is written; a caller need not wait
   * @throws OAuthError temporarily_unavailable (`audit_unavailable`)
   */
  append(members: string): Promise<void>;
  /** @throws OAuthError as `append` */
  requireWritable(): void;
  /** Undefined before the first line. */
  head(): Head | undefined;
  close(): void;
}

export interface AuditFileDeps {
  /** Called with the last line of this file before another file takes over. */
  readonly beforeLeaving: (head: Head) => void;
  /** Called once for each outage. */
  readonly onFailure: (error: unknown) => void;
  readonly onRecovery: () => void;
  /** Default: `fs.writeSync`. Tests pass one that fails. */
  readonly write?: (fd: number, bytes: Uint8Array, offset: number) => number;
}

type OpenFile = ReturnType<typeof openAt>;

/** Lines that are being written. After a failure the rest is tried again. */
type Block = ReturnType<typeof blockOf>;

/** Between two looks at whether the file is still there, and tries to recover. */
const LOOK_MS = 1_000;

/** @throws Error when the file cannot be opened, or is not a file */
export function openAuditFile(path: string, deps: AuditFileDeps): AuditSink {
  const { beforeLeaving, onFailure, onRecovery, write = writeSync } = deps;
  let file = openAt(path);
  /** Undefined until the first line of this process is written to this file. */
  let head: Head | undefined;
  let lastHash = NO_LINE;
  let pending: string[] = [];
  let block: Block | undefined;
  let turn: PromiseWithResolvers<void> | undefined;
  let hasFailed = false;
  let isClosed = false;

  const writeOut = (): void => {
    if (block === undefined) {
      if (pending.length === 0) return;
      block = blockOf(pending, head, file, lastHash);
      pending = [];
    }
    while (block.written < block.bytes.length) block.written += write(file.fd, block.bytes, block.written);
    head = block.head;
    lastHash = head.hash;
    block = undefined;
  };

  const fail = (error: unknown): void => {
    if (!hasFailed) onFailure(error);
    hasFailed = true;
  };

  const endTurn = (): void => {
    const ended = turn;
    turn = undefined;
    try {
      writeOut();
      ended?.resolve();
    } catch (error) {
      fail(error);
      ended?.reject(auditUnavailable());
    }
  };

  /** The lines that the old file has not got whole begin the new file. */
  const reopen = (): void => {
    const next = openAt(path);
    if (head !== undefined) beforeLeaving(head);
    closeSafely(file);
    file = next;
    head = undefined;
    pending = [...(block?.members ?? []), ...pending];
    block = undefined;
  };

  const look = (): void => {
    try {
      if (!isAt(path, file)) reopen();
      writeOut();
    } catch (error) {
      fail(error);
      return;
    }
    if (hasFailed) onRecovery();
    hasFailed = false;
  };
  const timer = setInterval(look, LOOK_MS).unref();

  return {
    append: (members) => {
      if (hasFailed || isClosed) return refused();
      pending.push(members);
      if (turn === undefined) {
        turn = Promise.withResolvers();
        turn.promise.catch(ignore);
        setImmediate(endTurn);
      }
      return turn.promise;
    },
    requireWritable: () => {
      if (hasFailed || isClosed) throw auditUnavailable();
    },
    head: () => head,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      clearInterval(timer);
      endTurn();
      closeSafely(file);
    },
  };
}

function openAt(path: string) {
  // Reads too: the chain of this process names the line it found last.
  const fd = openForAppending(path);
  const stats = fstatSync(fd);
  if (stats.isFile()) return { fd, device: stats.dev, inode: stats.ino };
  closeSync(fd);
  throw new Error(`The audit stream needs a regular file: ${path}`);
}

function openForAppending(path: string): number {
  try {
    return openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
  } catch (cause) {
    throw new Error(`The audit stream cannot be written to ${path} (${(cause as NodeJS.ErrnoException).code})`, {
      cause,
    });
  }
}

function isAt(path: string, { device, inode }: OpenFile): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.dev === device && stats.ino === inode;
}

function closeSafely({ fd }: OpenFile): void {
  try {
    fsyncSync(fd);
  } catch {
    // What the disk does not take now, the heads in the log show.
  }
  closeSync(fd);
}

function blockOf(members: readonly string[], known: Head | undefined, { fd }: OpenFile, lastHash: string) {
  // Read now, not at the start, because other processes may write to this file.
  const found = known === undefined ? readEnd(fd) : undefined;
  let head = known ?? newChain(found?.hash ?? lastHash);
  let text = found?.isTorn === true ? "\n" : "";
  for (const one of members) {
    const next = nextLine(one, head);
    text += `${next.line}\n`;
    ({ head } = next);
  }
  return { members, bytes: Buffer.from(text), head, written: 0 };
}

/** Longer than any two of our lines. */
const END_BYTES = 65_536;
const NEWLINE = 0x0a;

/** @returns the hash of the last whole line of the stream, and whether the file ends within a line */
function readEnd(fd: number): { readonly hash: string | undefined; readonly isTorn: boolean } {
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(Math.min(size, END_BYTES));
  const end = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, size - bytes.length));
  let to = end.lastIndexOf(NEWLINE);
  const isTorn = end.length > 0 && to !== end.length - 1;
  for (; to > 0; to = end.lastIndexOf(NEWLINE, to - 1)) {
    const line = end.subarray(end.lastIndexOf(NEWLINE, to - 1) + 1, to);
    if (line.includes(MARK)) return { hash: hashOf(line), isTorn };
  }
  return { hash: undefined, isTorn };
}

function auditUnavailable(): OAuthError {
  return new OAuthError("temporarily_unavailable", "The audit log cannot be written, so the request was refused", {
    reason: "audit_unavailable",
  });
}

function refused(): Promise<void> {
  const promise = Promise.reject(auditUnavailable());
  promise.catch(ignore);
  return promise;
}

/** For a promise that some callers do not wait for. */
const ignore = (): void => undefined;
