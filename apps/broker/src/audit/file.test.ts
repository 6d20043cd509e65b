import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { folderOf } from "../config/testing/config-file.ts";
import { hashOf, NO_LINE } from "./chain.ts";
import { type AuditFileDeps, openAuditFile } from "./file.ts";
import { type Verification, verifyAudit } from "./verify.ts";

interface Line {
  readonly chain: string;
  readonly seq: number;
  readonly prev: string;
  readonly n: number;
}

const textOf = (path: string): string[] => readFileSync(path, "utf8").trimEnd().split("\n");
const linesOf = (path: string): Line[] => textOf(path).map((line) => JSON.parse(line) as Line);
const verify = async (...paths: string[]): Promise<Verification> =>
  verifyAudit(
    (async function* () {
      for (const path of paths) yield readFileSync(path);
    })(),
  );

/** A file that is opened by any number of processes, and what they report. */
function fixture() {
  const path = join(folderOf(), "audit.jsonl");
  const seen = { left: [] as string[], failures: [] as unknown[], recoveries: 0 };
  const open = (write?: AuditFileDeps["write"]) =>
    openAuditFile(path, {
      beforeLeaving: ({ hash }) => void seen.left.push(hash),
      onFailure: (error) => void seen.failures.push(error),
      onRecovery: () => (seen.recoveries += 1),
      ...(write === undefined ? {} : { write }),
    });
  return { path, open, seen };
}

function diskWith(bytes: number) {
  const disk = {
    free: bytes,
    write: (...[fd, all, offset]: Parameters<NonNullable<AuditFileDeps["write"]>>): number => {
      const length = Math.min(disk.free, all.length - offset);
      if (length === 0) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
      disk.free -= length;
      return writeSync(fd, all, offset, length);
    },
  };
  return disk;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());
const SECOND = 1_000;

describe("a file of the audit stream", () => {
  it("has each line chained to the one before, and is for its owner only", async () => {
    const { path, open } = fixture();
    const sink = open();
    await sink.append('"n":1');
    await sink.append('"n":2');
    const [first, second] = textOf(path);
    const one = { stream: "audit", chain: expect.any(String), seq: 1, n: 1, prev: NO_LINE };
    expect(JSON.parse(first ?? "")).toEqual(one);
    expect(JSON.parse(second ?? "")).toMatchObject({ seq: 2, n: 2, prev: hashOf(first ?? "") });
    expect(sink.head()).toMatchObject({ seq: 2, hash: hashOf(second ?? "") });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    sink.close();
  });

  it("takes what one turn of the event loop recorded by one write", async () => {
    const { path, open } = fixture();
    const write = vi.fn<NonNullable<AuditFileDeps["write"]>>(writeSync);
    const sink = open(write);
    await Promise.all(Array.from({ length: 50 }, (_, n) => sink.append(`"n":${n}`)));
    expect(write).toHaveBeenCalledTimes(1);
    expect(linesOf(path).map(({ n }) => n)).toEqual(Array.from({ length: 50 }, (_, n) => n));
    sink.close();
  });

  it("writes at its end what has been recorded, and records nothing afterwards", async () => {
    const { path, open } = fixture();
    const sink = open();
    const written = sink.append('"n":1');
    sink.close();
    await written;
    expect(linesOf(path)).toHaveLength(1);
    await expect(sink.append('"n":2')).rejects.toMatchObject({ code: "temporarily_unavailable" });
    expect(linesOf(path)).toHaveLength(1);
  });

  it("gets a chain for each start, which names the line before", async () => {
    const { path, open } = fixture();
    for (const n of [1, 2, 3]) {
      const sink = open();
      await sink.append(`"n":${n}`);
      sink.close();
    }
    const lines = linesOf(path);
    expect(new Set(lines.map(({ chain }) => chain)).size).toBe(3);
    expect(lines.map(({ seq }) => seq)).toEqual([1, 1, 1]);
    expect(lines[2]?.prev).toBe(hashOf(textOf(path)[1] ?? ""));
    expect((await verify(path)).problems).toEqual([]);
  });

  it("may be shared by processes: each has a chain", async () => {
    const { path, open } = fixture();
    const sinks = [open(), open(), open()];
    for (let round = 0; round < 20; round += 1) await Promise.all(sinks.map((sink) => sink.append(`"n":${round}`)));
    const { problems, lines, heads } = await verify(path);
    expect({ problems, lines, chains: heads.length }).toEqual({ problems: [], lines: 60, chains: 3 });
    for (const sink of sinks) sink.close();
  });

  it("that a crash has cut within a line goes on in a new line, and the cut one is reported", async () => {
    const { path, open } = fixture();
    const before = open();
    await before.append('"n":1');
    before.close();
    appendFileSync(path, '{"stream":"audit","chain":"x","se');
    const after = open();
    await after.append('"n":2');
    after.close();
    const problem = "line 2 is not a line of the stream: cut short by a crash, or changed";
    expect((await verify(path)).problems).toEqual([problem]);
    expect(JSON.parse(textOf(path)[2] ?? "")).toMatchObject({ n: 2, seq: 1, prev: hashOf(textOf(path)[0] ?? "") });
  });

  it("is not opened where there is something else", () => {
    const { path, open } = fixture();
    mkdirSync(path);
    expect(open).toThrow(`The audit stream cannot be written to ${path} (EISDIR)`);
    expect(() => openAuditFile("/dev/null", { ...fixture().seen } as never)).toThrow("needs a regular file");
  });
});

describe("a disk without space", () => {
  it("refuses what cannot be recorded, reports once, resumes without a gap", async () => {
    const { path, open, seen } = fixture();
    const disk = diskWith(400);
    const sink = open(disk.write);
    await sink.append('"n":1');
    const refusal = { code: "temporarily_unavailable", extras: { reason: "audit_unavailable" } };
    // The disk takes a part of these.
    const together = await Promise.allSettled([2, 3, 4].map((n) => sink.append(`"n":${n}`)));
    expect(together).toEqual(together.map(() => ({ status: "rejected", reason: expect.objectContaining(refusal) })));
    expect(readFileSync(path, "utf8").endsWith("\n")).toBe(false);
    expect(sink.requireWritable).toThrow(expect.objectContaining(refusal));
    await expect(sink.append('"n":5')).rejects.toMatchObject(refusal);
    vi.advanceTimersByTime(3 * SECOND);
    expect(seen).toMatchObject({ failures: [{ code: "ENOSPC" }], recoveries: 0 });

    disk.free = 100_000;
    vi.advanceTimersByTime(SECOND);
    sink.requireWritable();
    await sink.append('"n":6');
    // What was refused because nothing was written any more is not there; what was cut is whole.
    expect(linesOf(path).map(({ n }) => n)).toEqual([1, 2, 3, 4, 6]);
    expect((await verify(path)).problems).toEqual([]);
    expect(seen).toMatchObject({ failures: [{ code: "ENOSPC" }], recoveries: 1 });
    sink.close();
  });

  it("does not keep a process from its end", async () => {
    const { open } = fixture();
    const sink = open(() => {
      throw new Error("full");
    });
    void sink.append('"n":1');
    expect(sink.close).not.toThrow();
  });
});

describe("a file that was renamed", () => {
  it("is followed by a new one, whose chain names the last line of the old", async () => {
    const { path, open, seen } = fixture();
    const sink = open();
    await sink.append('"n":1');
    renameSync(path, `${path}.1`);
    // Until the next look, lines go to the old file.
    await sink.append('"n":2');
    vi.advanceTimersByTime(SECOND);
    await sink.append('"n":3');
    sink.close();
    expect(linesOf(`${path}.1`).map(({ n }) => n)).toEqual([1, 2]);
    expect(linesOf(path)).toMatchObject([{ n: 3, seq: 1, prev: hashOf(textOf(`${path}.1`)[1] ?? "") }]);
    expect(seen.left).toEqual([hashOf(textOf(`${path}.1`)[1] ?? "")]);
    const [continues] = seen.left;
    expect(await verify(path)).toMatchObject({ problems: [], continues });
    expect(await verify(`${path}.1`, path)).toMatchObject({ problems: [], continues: undefined, lines: 3 });
    expect((await verify(path, `${path}.1`)).problems).toEqual([]);
  });

  it("refuses while no file can be opened under the name, and recovers", async () => {
    const { path, open, seen } = fixture();
    const sink = open();
    await sink.append('"n":1');
    renameSync(path, `${path}.1`);
    mkdirSync(path);
    vi.advanceTimersByTime(SECOND);
    await expect(sink.append('"n":2')).rejects.toMatchObject({ code: "temporarily_unavailable" });
    rmdirSync(path);
    vi.advanceTimersByTime(SECOND);
    await sink.append('"n":3');
    sink.close();
    expect(seen).toMatchObject({ failures: [expect.any(Error)], recoveries: 1 });
    expect((await verify(`${path}.1`, path)).problems).toEqual([]);
  });

  it("while the disk was full, ends within a line; what it lacks begins the new one", async () => {
    const { path, open } = fixture();
    const disk = diskWith(300);
    const sink = open(disk.write);
    await sink.append('"n":1');
    await Promise.allSettled([2, 3].map((n) => sink.append(`"n":${n}`)));
    renameSync(path, `${path}.1`);
    disk.free = 100_000;
    vi.advanceTimersByTime(SECOND);
    expect(linesOf(path).map(({ n }) => n)).toEqual([2, 3]);
    sink.close();
    expect((await verify(path)).problems).toEqual([]);
    expect(existsSync(`${path}.1`)).toBe(true);
  });
});

it("keeps the permissions of a file that is there", async () => {
  const { path, open } = fixture();
  writeFileSync(path, "");
  chmodSync(path, 0o640);
  open().close();
  expect(statSync(path).mode & 0o777).toBe(0o640);
});
