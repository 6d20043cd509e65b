/**
 * What a process needs when one vendor of ten hangs: flows at ten vendors in turn, of which the
 * tenth answers in one broker, and accepts token requests without ever answering in the other. What
 * hangs has its own connections, so that the others are not held up by the run itself.
 */
import { startScriptedVendor } from "@oauth-broker/simulators";
import { type Connection, openConnection } from "../../connection.ts";
import { inLanes } from "../../lanes.ts";
import { type Measurement, measureCpu } from "../../machine.ts";
import { type Spread, spreadOf } from "../../spread.ts";
import { startVendor } from "../../services.ts";
import { onStage } from "../../stage.ts";
import { compareSubjects, lastRatio, rowsOf } from "../compare.ts";
import { type Brokers, startBrokers } from "../fixture/brokers.ts";
import { createMemoryReader, kibibytes, mebibytes, type Memory, type MemoryReader } from "../fixture/memory.ts";
import { type Found, pageLines, type Row, times } from "../section.ts";
import type { Size } from "../size.ts";

const VENDORS = 10;

/** Of one measurement. */
interface Seen {
  /** Of a flow at the other nine vendors. */
  readonly milliseconds: Spread;
  /** Flows at the tenth vendor that had not ended when the others had. */
  readonly hanging: number;
  readonly memory: Memory;
}

export async function measureHanging(size: Size, say: (line: string) => void): Promise<Found> {
  return onStage(async (stage) => {
    const { url: good } = await startVendor("any", stage);
    const hung = await startScriptedVendor({ "/token": () => undefined }, { keepsRequests: false });
    stage.addBehind({ stop: hung.close });
    const seen: Record<string, Seen[]> = {};
    const subject = async (name: string, tenth: string) => {
      const reader = createMemoryReader();
      const vendorUrl = Array.from({ length: VENDORS }, (_, number) => (number === VENDORS - 1 ? tenth : good));
      const folder = stage.folder(name);
      const store = "sqlite:./broker.sqlite";
      const options = { folder, store, vendorUrl, entries: VENDORS, ...reader.options };
      const brokers = await startBrokers(options, stage);
      const all: Seen[] = (seen[name] = []);
      const measure = async (flows: number): Promise<Measurement> => {
        const { seen: one, ...measured } = await measureFlows(brokers, reader, { flows, lanes: size.atOnce });
        all.push(one);
        say(`${name.padEnd(28)} ${one.milliseconds.median.toFixed(1)} ms a flow of the others, ${one.hanging} hang`);
        return measured;
      };
      return { name, measure };
    };
    const subjects = [await subject("all answer", good), await subject("one of ten hangs", hung.url)];
    const compared = await compareSubjects(subjects, size, say);
    // The warm-up is before.
    const [answering = [], hanging = []] = subjects.map(({ name }) => seen[name]?.slice(-size.rounds));
    const ratioOf = (figure: (one: Seen) => number): Spread =>
      spreadOf(hanging.map((one, round) => figure(one) / figure(answering[round]!)));
    const median = (some: readonly Seen[], figure: (one: Seen) => number): number => spreadOf(some.map(figure)).median;
    const time = ratioOf(({ milliseconds }) => milliseconds.median);
    const slow = ratioOf(({ milliseconds }) => milliseconds.upper);
    const held = median(hanging, (one) => one.hanging);
    const resident = [answering, hanging].map((some) => mebibytes(median(some, ({ memory }) => memory.residentBytes)));
    const heapOf = (some: readonly Seen[]): number => median(some, ({ memory }) => memory.heapBytes);
    const each = kibibytes((heapOf(hanging) - heapOf(answering)) / Math.max(held, 1));
    const rows: Row[] = [
      ...rowsOf(compared, "CPU per flow, "),
      { what: "a flow of the others takes, median", figure: "", ratio: time },
      { what: "a flow of the others takes, upper quartile", figure: "", ratio: slow },
      { what: "flows that hang at once", figure: String(held) },
      { what: "memory of the process, all answer", figure: resident[0] ?? "" },
      { what: "memory of the process, one of ten hangs", figure: resident[1] ?? "" },
      { what: "heap, for each flow that hangs", figure: each },
    ];
    const page = pageLines("hanging", [
      ["vendors that hang, CPU of all flows", "none", "1 of 10", lastRatio(compared), ""],
      ["vendors that hang, time of the flows at the others", "none", "1 of 10", times(time), ""],
      ["memory of a process if none hangs, and if 1 of 10 does", resident.join(", "), ""],
      ["flows that hang at once then, and heap of each", `${held}, ${each}`, ""],
    ]);
    return { sections: [{ title: "One vendor of ten hangs, SQLite store", rows }], page };
  });
}

async function measureFlows(
  brokers: Brokers,
  reader: MemoryReader,
  { flows, lanes }: { readonly flows: number; readonly lanes: number },
): Promise<Measurement & { readonly seen: Seen }> {
  const pid = brokers.servers[0]?.pid ?? 0;
  const atTenth = new Set<Promise<void>>();
  const milliseconds: number[] = [];
  const connections = Array.from({ length: lanes }, brokers.open);
  const flow = async (lane: number, piece: number): Promise<void> => {
    const number = piece % VENDORS;
    if (number === VENDORS - 1) {
      const one = flowAtTenth(brokers).finally(() => atTenth.delete(one));
      atTenth.add(one);
      return;
    }
    const startedAt = performance.now();
    await brokers.actors[number]?.flow(connections[lane]!);
    milliseconds.push(performance.now() - startedAt);
  };
  const measured = await measureCpu([pid], flows, () => inLanes(lanes, flows, flow));
  await Promise.all(connections.map((connection) => connection.close()));
  const hanging = atTenth.size;
  const memory = await reader.read(pid);
  await Promise.all(atTenth);
  return { ...measured, seen: { milliseconds: spreadOf(milliseconds), hanging, memory } };
}

/** @throws Error when the answer is neither tokens nor that the vendor cannot be reached */
async function flowAtTenth({ actors, servers }: Brokers): Promise<void> {
  const actor = actors[VENDORS - 1];
  const connection: Connection = openConnection(servers[0]?.url ?? "");
  if (actor === undefined) throw new Error("there is no tenth vendor");
  const pushed = await actor.push(connection);
  const code = actor.readCode(pushed, await actor.comeBack(connection, await actor.leave(connection, pushed)));
  const { status, body } = await actor.redeem(connection, code, pushed.codeVerifier);
  if (status !== 200 && status !== 503) throw new Error(`a flow at the tenth vendor ended with ${status} ${body}`);
  await connection.close();
}
