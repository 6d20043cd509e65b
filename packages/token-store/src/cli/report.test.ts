import { describe, expect, it } from "vitest";
import { createProgress, type Progress, resultText } from "./report.ts";

interface Screen extends Progress {
  readonly written: string[];
  at(ms: number): Screen;
  rows(done: number, pass?: number): void;
}

function screen(style: "bar" | "lines", columns = 200): Screen {
  const written: string[] = [];
  let elapsed = 0;
  const progress = createProgress({ style, columns, write: (text) => written.push(text), elapsedMs: () => elapsed });
  const all: Screen = {
    ...progress,
    written,
    at: (ms) => {
      elapsed = ms;
      return all;
    },
    rows: (done, pass = 1) => {
      const counts = { sealed: done, left: 0 };
      const total = pass === 0 ? {} : { total: 10_000 };
      progress.show({ event: "progress", command: "migrate", pass, done, ...total, counts });
    },
  };
  return all;
}

describe("progress on a terminal", () => {
  it("is one line drawn over itself, with rate and time left once they are known", () => {
    const { written, at, end } = screen("bar");
    at(0).rows(0);
    at(2000).rows(2500);
    end();
    expect(written).toEqual([
      "\r\u001B[2Kmigrate: pass 1  [------------------------] 0 %  0/10,000 rows",
      "\r\u001B[2Kmigrate: pass 1  [######------------------] 25 %  2,500/10,000 rows  1,250/s  6 s left  sealed 2,500",
      "\n",
    ]);
  });

  it("is drawn ten times a second at most, and at the end", () => {
    const { written, at } = screen("bar");
    for (let done = 0; done <= 1000; done += 1) at(done).rows(done * 10);
    expect(written.length).toBeGreaterThan(8);
    expect(written.length).toBeLessThan(14);
    expect(written.at(-1)).toContain("10,000/10,000");
  });

  it("counts without a total at first", () => {
    const { written, at } = screen("bar");
    at(0).rows(100, 0);
    at(5000).rows(5100, 0);
    expect(written.at(-1)).toBe("\r\u001B[2Kmigrate: counting  5,100 rows  1,000/s  sealed 5,100");
  });

  it("does not count to this run what the one before it did", () => {
    const { written, at } = screen("bar");
    at(0).rows(5000);
    at(1000).rows(5100);
    expect(written.at(-1)).toContain("100/s  49 s left");
  });

  it("fits the terminal", () => {
    const { written, at } = screen("bar", 40);
    at(0).rows(10);
    expect(written[0]?.length).toBe("\r\u001B[2K".length + 39);
  });

  it("says in a line of its own what it waits for", () => {
    const { written, at, show } = screen("bar");
    at(0).rows(10);
    show({ event: "waiting", reason: "kms_unavailable", detail: "The key service does not respond", seconds: 2 });
    expect(written.slice(1)).toEqual([
      "\r\u001B[2K",
      "waiting 2 s (kms_unavailable): The key service does not respond\n",
    ]);
  });
});

it("progress elsewhere is JSON lines, every few seconds and at the end of a pass", () => {
  const { written, at, end } = screen("lines");
  for (let done = 0; done <= 100; done += 1) at(done * 120).rows(done * 100);
  end();
  const lines = written.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(written.every((line) => line.endsWith("\n"))).toBe(true);
  expect(lines.map(({ done }) => done)).toEqual([0, 4200, 8400, 10_000]);
  expect(lines[1]).toEqual({
    event: "progress",
    command: "migrate",
    pass: 1,
    done: 4200,
    total: 10_000,
    counts: { sealed: 4200, left: 0 },
    per_second: 833,
    seconds_left: 7,
  });
});

it("a result shows a name of the table without what a terminal obeys", () => {
  const next = ["--issuer \u001B[2Jx=ISSUER"];
  const result = {
    command: "audit",
    ending: "done",
    table: "t",
    counts: {},
    byVendor: { "\u202E": {} },
    next,
  } as const;
  expect(resultText(result)).toBe("audit: table t\n\nvendor ?\n\n--issuer ?[2Jx=ISSUER");
});
