/**
 * What a process needs when one vendor of ten hangs: flows at ten vendors in turn, of which the
 * tenth answers in one broker, and accepts token requests without ever answering in the other. What
 * hangs has its own connections, so that the others are not held up by the run itself.
 */
import { startScriptedVendor } from "@oauth-broker/simulators";
import type { Connection } from "../../connection.ts";
import { inLanes } from "../../lanes.ts";
import { type Measurement, measureCpu } from "../../machine.ts";
import { startVendor } from "../../services.ts";
import { quantileOf, spreadOf } from "../../spread.ts";
import type { Stage } from "../../stage.ts";
import type { Brokers } from "../fixture/brokers.ts";
import { kibibytes, mebibytes, type Memory, startWithMemory } from "../fixture/memory.ts";
import { compareWithFirst, type Found, growthLine, lastRatio, pageLines } from "../section.ts";
import type { Size } from "../size.ts";

const VENDORS = 10;

/**
 * One measurement: the median of a flow at the other nine vendors; flows at the tenth vendor that
 * had not ended when the others had; memory.
 */
type Seen = Memory & Readonly<Record<"milliseconds" | "hanging", number>>;

export async function measureHanging(size: Size, say: (line: string) => void, stage: Stage): Promise<Found> {
  const { url: good } = await startVendor("any", stage);
  const hung = stage.addBehind(await startScriptedVendor({ "/token": () => undefined }, { keepsRequests: false }));
  const subject = async (name: string, tenth: string) => {
    const vendorUrl = [...Array<string>(VENDORS - 1).fill(good), tenth];
    const store = "sqlite:./broker.sqlite";
    const brokers = await startWithMemory({ store, vendorUrl, entries: VENDORS }, stage);
    const seen: Seen[] = [];
    const measure = async (flows: number): Promise<Measurement> => {
      const { atTenth, milliseconds, measured } = await measureFlows(brokers, flows, size.atOnce);
      const one = { milliseconds, hanging: atTenth.size, ...(await brokers.memory()) };
      await Promise.all(atTenth);
      seen.push(one);
      say(`${name.padEnd(28)} ${milliseconds.toFixed(1)} ms a flow of the others, ${one.hanging} hang`);
      return measured;
    };
    return { name, measure, seen };
  };
  const subjects = [await subject("all answer", good), await subject("one of ten hangs", hung.url)];
  const outcomes = await compareWithFirst(subjects, size, say);
  // The warm-up is before.
  const [answering = [], hanging = []] = subjects.map(({ seen }) => seen.slice(-size.rounds));
  const median = (some: readonly Seen[], figure: (one: Seen) => number): number => spreadOf(some.map(figure)).median;
  const time = spreadOf(hanging.map((one, round) => one.milliseconds / answering[round]!.milliseconds));
  const held = median(hanging, (one) => one.hanging);
  const resident = [answering, hanging].map((some) => mebibytes(median(some, (one) => one.residentBytes)));
  const heapOf = (some: readonly Seen[]): number => median(some, (one) => one.heapBytes);
  const each = kibibytes((heapOf(hanging) - heapOf(answering)) / Math.max(held, 1));
  return {
    sections: [{ title: "One vendor of ten hangs, CPU per flow, SQLite store", outcomes }],
    ...pageLines("hanging", [
      growthLine(["vendors that hang, CPU of all flows", "none", "1 of 10"], lastRatio(outcomes)),
      growthLine(["vendors that hang, time of the flows at the others", "none", "1 of 10"], time),
      { cells: ["memory of a process if none hangs, and if 1 of 10 does", resident.join(", ")] },
      { cells: ["flows that hang at once then, and heap of each", `${held}, ${each}`] },
    ]),
  };
}

/** @returns also the flows at the tenth vendor that have not ended, and how long one of the others took */
async function measureFlows(brokers: Brokers, flows: number, lanes: number) {
  const atTenth = new Set<Promise<void>>();
  const milliseconds: number[] = [];
  const flow = async (connection: Connection, piece: number): Promise<void> => {
    const number = piece % VENDORS;
    if (number === VENDORS - 1) {
      const one = flowAtTenth(brokers).finally(() => atTenth.delete(one));
      atTenth.add(one);
      return;
    }
    const startedAt = performance.now();
    await brokers.actors[number]?.flow(connection);
    milliseconds.push(performance.now() - startedAt);
  };
  const measured = await brokers.hold(lanes, 0, (open) =>
    measureCpu([brokers.pid], flows, () => inLanes(lanes, flows, (lane, piece) => flow(open[lane]!, piece))),
  );
  return { measured, atTenth, milliseconds: quantileOf(milliseconds, 0.5) };
}

/** @throws Error when the answer is neither tokens nor that the vendor cannot be reached */
async function flowAtTenth({ actors, open }: Brokers): Promise<void> {
  const [actor, connection] = [actors[VENDORS - 1]!, open()];
  const { status, body } = await actor.redeem(connection, ...(await actor.authorize(connection)));
  if (status !== 200 && status !== 503) throw new Error(`a flow at the tenth vendor ended with ${status} ${body}`);
  await connection.close();
}
