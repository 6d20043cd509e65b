import { describe, expect, it } from "vitest";
import { type Head, newChain, nextLine } from "./chain.ts";
import { type Verification, verifyAudit } from "./verify.ts";

/** Lines of one chain that say 1, 2, 3, … */
function chainOf(length: number, after?: string): { readonly lines: string[]; readonly heads: Head[] } {
  const [lines, heads] = [[] as string[], [] as Head[]];
  let head = newChain(after);
  for (let n = 1; n <= length; n += 1) {
    const next = nextLine(`"n":${n}`, head);
    ({ head } = next);
    lines.push(next.line);
    heads.push(head);
  }
  return { lines, heads };
}

/** @param size of the pieces in which the bytes come */
async function verify(text: string | Uint8Array, wanted: string[] = [], size = 65_536): Promise<Verification> {
  const bytes = Buffer.from(text);
  const pieces = async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  return verifyAudit(pieces(), wanted);
}
const problemsOf = async (lines: readonly string[], wanted?: string[]): Promise<readonly string[]> =>
  (await verify(lines.map((line) => `${line}\n`).join(""), wanted)).problems;

const { lines, heads } = chainOf(6);
const [chain, last] = [heads[0]?.chain ?? "", heads[5]?.hash ?? ""];
const at = (n: number): string => lines[n - 1] ?? "";

describe("lines that hold together", () => {
  it.each([1, 7, 200, 65_536])("are counted, with the head of their chain, read %i bytes at a time", async (size) => {
    expect(await verify(`${lines.join("\n")}\n`, [last], size)).toEqual({
      problems: [],
      moreProblems: 0,
      lines: 6,
      otherLines: 0,
      heads: [{ chain, seq: 6, hash: last }],
      continues: undefined,
    });
  });

  it("may be of several chains, and among lines of other streams", async () => {
    const other = chainOf(3);
    const logLine = '{"level":"info","event":"request","detail":"\\"stream\\":\\"audit\\""}';
    const [first, ...rest] = other.lines;
    const mixed = [at(1), logLine, first, at(2), at(3), "", ...rest, at(4), at(5), at(6)];
    const found = await verify(`${mixed.join("\n")}\n`, [other.heads[2]?.hash ?? "", last]);
    expect(found).toMatchObject({ problems: [], lines: 9, otherLines: 1, heads: [{ seq: 6 }, { seq: 3 }] });
  });

  it("may begin with the line after another file's last one", async () => {
    const next = chainOf(1, last);
    expect(await verify(`${next.lines[0]}\n`)).toMatchObject({ problems: [], continues: last });
    expect(await problemsOf([...lines, ...next.lines])).toEqual([]);
  });
});

describe("what does not hold together is named", () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ["a removed line", [at(1), at(2), at(4), at(5), at(6)], [`number 3 of chain ${chain} was removed after line 2`]],
    ["removed lines", [at(1), at(5), at(6)], [`numbers 2 to 4 of chain ${chain} were removed after line 1`]],
    ["a removed beginning", [at(4), at(5)], [`numbers 1 to 3 of chain ${chain} were removed before its first line`]],
    [
      "a changed line",
      [at(1), at(2).replace('"n":2', '"n":9'), at(3)],
      ["line 2 was changed: line 3 has another hash of it"],
    ],
    [
      "two lines in each other's place",
      [at(1), at(3), at(2), at(4)],
      [`line 3 is out of order: it is number 2 of chain ${chain}`],
    ],
    ["a line twice", [at(1), at(2), at(2), at(3)], [`line 3 was inserted: chain ${chain} already has number 2`]],
    [
      "an inserted line",
      [at(1), nextLine('"n":0', { chain, seq: 1, hash: heads[0]?.hash ?? "" }).line, at(2), at(3)],
      [`line 3 was inserted: chain ${chain} already has number 2`, "line 2 was changed: line 4 has another hash of it"],
    ],
    [
      "a tail cut before the next chain began",
      [at(1), at(2), ...chainOf(1, last).lines],
      ["line 3 begins a chain after a line that is not there: lines before it were removed or changed"],
    ],
    [
      "a name twice in one line",
      [at(1), at(2).replace('"n":2', '"n":2,"n":2'), at(3)],
      [
        "line 2 is not a line of the stream: cut short by a crash, or changed",
        `number 2 of chain ${chain} was removed after line 1`,
      ],
    ],
    [
      "a number that is none",
      [at(1).replace('"seq":1', '"seq":1e999')],
      [expect.stringMatching("^line 1 is not a line"), expect.any(String)],
    ],
    ["no line at all", [], ["the input has no line of an audit stream"]],
    ["a log alone", ['{"level":"info"}'], ["the input has no line of an audit stream"]],
  ])("%s", async (_, text, problems) => {
    expect(await problemsOf(text)).toEqual(problems);
  });

  it("a cut tail, by the head that was noted elsewhere and only by that", async () => {
    const cut = lines.slice(0, 4);
    expect(await problemsOf(cut)).toEqual([]);
    expect(await problemsOf(cut, [heads[3]?.hash ?? ""])).toEqual([]);
    expect(await problemsOf(cut, [last])).toEqual([`no line has the hash ${last}: it was removed, or changed`]);
  });

  it("a changed last line, by its head", async () => {
    const changed = [...lines.slice(0, 5), at(6).replace('"n":6', '"n":7')];
    expect(await problemsOf(changed)).toEqual([]);
    expect(await problemsOf(changed, [last])).toHaveLength(1);
  });

  it("a file that ends within a line", async () => {
    const text = `${at(1)}\n${at(2)}`;
    expect((await verify(text)).problems).toEqual(["line 2 is cut short: the file ends within it"]);
  });

  it("a line of more than 64 kB, whatever it says", async () => {
    const long = at(2).replace('"n":2', `"n":"${"x".repeat(70_000)}"`);
    for (const size of [1_000, 1_000_000]) {
      const { problems } = await verify(`${at(1)}\n${long}\n${at(3)}\n`, [], size);
      expect(problems[0]).toBe("line 2 is not a line of the stream: cut short by a crash, or changed");
    }
  });

  it("bytes that are no text, as far as they are of the stream", async () => {
    const noise = Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7) % 256));
    expect((await verify(noise)).lines).toBe(0);
    const wrong = Buffer.concat([Buffer.from(at(1).slice(0, -1)), Buffer.from([0xff, 0x7d, 0x0a])]);
    expect((await verify(wrong)).problems[0]).toMatch(/^line 1 is not a line of the stream/);
  });

  it("the first twenty times, and how many more there are", async () => {
    const twice = [at(1), ...Array.from({ length: 30 }, () => at(1))];
    const found = await verify(`${twice.join("\n")}\n`);
    expect({ shown: found.problems.length, more: found.moreProblems }).toEqual({ shown: 20, more: 10 });
  });

  it("of lines in any order, without remembering each that is missing", async () => {
    const many = chainOf(3_000).lines;
    const shuffled = many.map((line, index) => [(index * 1019) % 3_000, line] as const).toSorted(([a], [b]) => a - b);
    const found = await verify(`${shuffled.map(([, line]) => line).join("\n")}\n`);
    expect(found.moreProblems).toBeGreaterThan(1_000);
  });
});
