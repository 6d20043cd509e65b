/**
 * What a flow costs, and how long a start takes, with one and with a thousand clients and vendors
 * in the configuration. The flows use all of them in turn.
 */
import { cpuMicroseconds } from "../../machine.ts";
import type { Subject } from "../../rounds.ts";
import { type Spread, spreadOf } from "../../spread.ts";
import { startBrokers } from "../fixture/brokers.ts";
import { compareSubjects, lastRatio, rowsOf } from "../compare.ts";
import { type Found, grouped, pageLines } from "../section.ts";
import type { Size } from "../size.ts";
import { startVendor } from "../../services.ts";
import { onStage } from "../../stage.ts";

const LIMIT = 1.1;
const START_LIMIT_MS = 1000;

export async function measureConfiguration(size: Size, say: (line: string) => void): Promise<Found> {
  return onStage(async (stage) => {
    const { url: vendorUrl } = await startVendor("any", stage);
    const counts = [1, size.entries].map((entries) => {
      return { entries, name: nameOf(entries), wall: [] as number[], cpu: [] as number[] };
    });
    const subjects: Subject[] = [];
    for (let start = 1; start <= size.starts; start += 1) {
      for (const { entries, name, wall, cpu } of counts) {
        const folder = stage.folder(`${entries}-${start}`);
        const { servers, measure, stop } = await startBrokers({ folder, store: "memory:", vendorUrl, entries }, stage);
        const { startMs, pid } = servers[0]!;
        wall.push(startMs);
        cpu.push(cpuMicroseconds(pid) / 1000);
        const onProcessor = `on a processor ${cpu.at(-1)?.toFixed(0)} ms`;
        say(`start ${start}/${size.starts}  ${name}: ${startMs.toFixed(0)} ms, ${onProcessor}`);
        if (start === size.starts) subjects.push({ name, measure });
        else await stop();
      }
    }
    const compared = await compareSubjects(subjects, size, say);
    const spreads = counts.map(({ name, wall, cpu }) => ({ name, wall: spreadOf(wall), cpu: spreadOf(cpu) }));
    const sections = [
      {
        title: "Clients and vendors in the configuration: CPU per flow, memory store",
        rows: rowsOf(compared, "", LIMIT),
      },
      {
        title: "Clients and vendors in the configuration: from the start of the process until it listens",
        rows: spreads.flatMap(({ name, wall, cpu }) => [
          {
            what: `${name}: time`,
            figure: milliseconds(wall),
            aim: { text: `at most ${START_LIMIT_MS} ms`, met: wall.median <= START_LIMIT_MS },
          },
          { what: `${name}: of that on a processor`, figure: milliseconds(cpu) },
        ]),
      },
    ];
    const [few, many] = spreads.map(({ wall, cpu }) => `${milliseconds(wall)} (${milliseconds(cpu)} on a processor)`);
    const most = grouped(size.entries);
    const page = pageLines("configuration", [
      ["clients and vendors in the configuration", nameOf(1), nameOf(size.entries), lastRatio(compared), `${LIMIT} ×`],
      [`start with ${most} clients and ${most} vendors`, `${many}; with one: ${few}`, `${START_LIMIT_MS / 1000} s`],
    ]);
    return { sections, page };
  });
}

function nameOf(entries: number): string {
  return `${grouped(entries)} + ${grouped(entries)}`;
}

function milliseconds({ median }: Spread): string {
  return `${median.toFixed(0)} ms`;
}
