/**
 * `broker audit verify`: reads lines of an audit stream and says what does not hold together. Keeps
 * little more than the heads of the chains, so that the size of the file does not matter. Lines of
 * other streams, such as the log on the same stdout, are passed over.
 */
import { parseJsonStrict } from "@oauth-broker/oauth-core";
import { type Head, hashOf, MARK, NO_LINE } from "./chain.ts";

export type Verification = Awaited<ReturnType<typeof verifyAudit>>;

type ReadLine = NonNullable<ReturnType<typeof readLine>>;

/** The last line of a chain so far. */
interface Chain {
  readonly seq: number;
  /** Its hash. */
  readonly last: string;
  /** Its number in the input. */
  readonly at: number;
}

/** Numbers of a chain that were left out so far. */
interface Gap {
  readonly chain: string;
  readonly from: number;
  readonly to: number;
  /** The line in the input after which they are missing. */
  readonly at: number;
}

const MOST_PROBLEMS = 20;
const MOST_GAPS = 1_000;
/** None of our lines is half as long. */
const LONGEST_LINE = 65_536;
/** A new chain names the line before it; other processes may have written a few in between. */
const REMEMBERED = 1_024;

/**
 * @param input the bytes of the file, in pieces of any size
 * @param wanted heads that were noted elsewhere, SHA-256 in lower-case hexadecimal
 */
export async function verifyAudit(input: AsyncIterable<Uint8Array>, wanted: readonly string[] = []) {
  const problems: string[] = [];
  let problemCount = 0;
  const report = (problem: string): void => {
    problemCount += 1;
    if (problems.length < MOST_PROBLEMS) problems.push(problem);
  };
  const chains = new Map<string, Chain>();
  /** The hashes of the last lines, regardless of their chain. */
  const recent: string[] = [];
  const notFound = new Set(wanted);
  let gaps: Gap[] = [];
  let [lines, otherLines] = [0, 0];
  let continues: string | undefined;

  const reportGap = ({ from, to, chain, at }: Gap): void => {
    const place = at === 0 ? "before its first line" : `after line ${at}`;
    const numbers =
      from === to ? `number ${from} of chain ${chain} was` : `numbers ${from} to ${to} of chain ${chain} were`;
    report(`${numbers} removed ${place}`);
  };
  /** Reported at the end, because the lines may come later: out of order. */
  const addGap = (gap: Gap): void => {
    if (gaps.length < MOST_GAPS) gaps.push(gap);
    else reportGap(gap);
  };

  const begin = ({ chain, seq, prev }: ReadLine, at: number): void => {
    if (seq > 1) addGap({ chain, from: 1, to: seq - 1, at: 0 });
    else if (prev !== NO_LINE && lines === 0) continues = prev;
    else if (prev !== NO_LINE && !recent.includes(prev)) {
      report(`line ${at} begins a chain after a line that is not there: lines before it were removed or changed`);
    }
  };

  const goOn = ({ chain, seq, prev }: ReadLine, before: Chain, at: number): void => {
    if (seq > before.seq + 1) addGap({ chain, from: before.seq + 1, to: seq - 1, at: before.at });
    else if (prev !== before.last) report(`line ${before.at} was changed: line ${at} has another hash of it`);
  };

  /** A number that the chain has passed: a line out of its place, or one that does not belong. */
  const outOfOrder = ({ chain, seq }: ReadLine, at: number): void => {
    const gap = gaps.find((one) => one.chain === chain && one.from <= seq && seq <= one.to);
    if (gap === undefined) {
      report(`line ${at} was inserted: chain ${chain} already has number ${seq}`);
      return;
    }
    report(`line ${at} is out of order: it is number ${seq} of chain ${chain}`);
    const rest = [
      { ...gap, to: seq - 1 },
      { ...gap, from: seq + 1 },
    ].filter(({ from, to }) => from <= to);
    gaps = gaps.flatMap((one) => (one === gap ? rest : [one]));
  };

  const readNext = (line: Buffer, at: number): void => {
    if (!line.includes(MARK)) {
      if (line.length > 0) otherLines += 1;
      return;
    }
    const read = readLine(line);
    if (read === undefined) {
      report(`line ${at} is not a line of the stream: cut short by a crash, or changed`);
      return;
    }
    const before = chains.get(read.chain);
    const isNext = before === undefined || read.seq > before.seq;
    if (before === undefined) begin(read, at);
    else if (isNext) goOn(read, before, at);
    else outOfOrder(read, at);
    const hash = hashOf(line);
    if (recent.push(hash) > REMEMBERED) recent.shift();
    notFound.delete(hash);
    lines += 1;
    if (isNext) chains.set(read.chain, { seq: read.seq, last: hash, at });
  };

  await eachLine(input, readNext, (at) => report(`line ${at} is cut short: the file ends within it`));
  gaps.forEach(reportGap);
  for (const hash of notFound) report(`no line has the hash ${hash}: it was removed, or changed`);
  if (lines === 0) report("the input has no line of an audit stream");
  return {
    /** What does not hold together, one sentence each, the first. Empty: all of it does. */
    problems,
    /** How many more there are. */
    moreProblems: problemCount - problems.length,
    lines,
    otherLines,
    /** Of each chain, in the order in which they begin. */
    heads: [...chains].map(([chain, { seq, last }]): Head => ({ chain, seq, hash: last })),
    /** The line before the first, which another file has. */
    continues,
  };
}

const CHAIN = /^[A-Za-z0-9_-]{22}$/;
const HASH = /^[0-9a-f]{64}$/;

/** @returns undefined for what no broker wrote */
function readLine(bytes: Buffer) {
  if (bytes.length >= LONGEST_LINE) return undefined;
  let members: unknown;
  try {
    members = parseJsonStrict(utf8.decode(bytes));
  } catch {
    return undefined;
  }
  if (typeof members !== "object" || members === null) return undefined;
  const { chain, seq, prev } = members as Readonly<Record<string, unknown>>;
  if (typeof chain !== "string" || !CHAIN.test(chain)) return undefined;
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 1) return undefined;
  if (typeof prev !== "string" || !HASH.test(prev)) return undefined;
  return { chain, seq, prev };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

const NEWLINE = 0x0a;

/**
 * @param take gets each line without its newline, and its number; of a line longer than ours
 *   can be only the beginning
 * @param cutShort called instead for a last line without newline
 */
async function eachLine(
  input: AsyncIterable<Uint8Array>,
  take: (line: Buffer, at: number) => void,
  cutShort: (at: number) => void,
): Promise<void> {
  let at = 0;
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of input) {
    const bytes = held.length === 0 ? Buffer.from(piece) : Buffer.concat([held, piece]);
    let from = 0;
    for (let to = bytes.indexOf(NEWLINE); to >= 0; to = bytes.indexOf(NEWLINE, from)) {
      at += 1;
      take(bytes.subarray(from, Math.min(to, from + LONGEST_LINE)), at);
      from = to + 1;
    }
    held = bytes.subarray(from, Math.min(bytes.length, from + LONGEST_LINE));
  }
  if (held.length > 0) cutShort(at + 1);
}
