/**
 * What a flow costs, and how long a start takes, with one and with a thousand clients and vendors
 * in the configuration. The flows use all of them in turn.
 */
import { cpuMicroseconds } from "../../machine.ts";
import { type Spread, spreadOf } from "../../spread.ts";
import { type Brokers, startBrokers } from "../fixture/brokers.ts";
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
    const counts = [1, size.entries];
    const starts = new Map<number, { readonly wall: number[]; readonly cpu: number[] }>();
    const running = new Map<number, Brokers>();
    for (let start = 1; start <= size.starts; start += 1) {
      for (const entries of counts) {
        const folder = stage.folder(`${entries}-${start}`);
        const brokers = await startBrokers({ folder, store: "memory:", vendorUrl, entries }, stage);
        const [server] = brokers.servers;
        const { wall, cpu } = starts.get(entries) ?? { wall: [], cpu: [] };
        const started = { wall: server?.startMs ?? 0, cpu: cpuMicroseconds(server?.pid ?? 0) / 1000 };
        starts.set(entries, { wall: [...wall, started.wall], cpu: [...cpu, started.cpu] });
        say(
          `start ${start}/${size.starts}  ${nameOf(entries)}: ${started.wall.toFixed(0)} ms, on a processor ${started.cpu.toFixed(0)} ms`,
        );
        if (start === size.starts) running.set(entries, brokers);
        else await brokers.stop();
      }
    }
    const subjects = [...running].map(([entries, { measure }]) => ({ name: nameOf(entries), measure }));
    const compared = await compareSubjects(subjects, size, say);
    const spreads = [...starts].map(([entries, all]) => {
      return { entries, wall: spreadOf(all.wall), cpu: spreadOf(all.cpu) };
    });
    const sections = [
      {
        title: "Clients and vendors in the configuration: CPU per flow, memory store",
        rows: rowsOf(compared, "", LIMIT),
      },
      {
        title: "Clients and vendors in the configuration: from the start of the process until it listens",
        rows: spreads.flatMap(({ entries, wall, cpu }) => [
          {
            what: `${nameOf(entries)}: time`,
            figure: milliseconds(wall),
            aim: { text: `at most ${START_LIMIT_MS} ms`, met: wall.median <= START_LIMIT_MS },
          },
          { what: `${nameOf(entries)}: of that on a processor`, figure: milliseconds(cpu) },
        ]),
      },
    ];
    const [few, many] = spreads.map(({ wall, cpu }) => `${milliseconds(wall)} (${milliseconds(cpu)} on a processor)`);
    const page = pageLines(
      "configuration",
      [
        [
          "clients and vendors in the configuration",
          nameOf(1),
          nameOf(size.entries),
          lastRatio(compared),
          `${LIMIT} ×`,
        ],
      ],
      [
        [
          `start with ${grouped(size.entries)} clients and ${grouped(size.entries)} vendors`,
          `${many}; with one: ${few}`,
          `${START_LIMIT_MS / 1000} s`,
        ],
      ],
    );
    return { sections, page };
  });
}

function nameOf(entries: number): string {
  return `${grouped(entries)} + ${grouped(entries)}`;
}

function milliseconds({ median }: Spread): string {
  return `${median.toFixed(0)} ms`;
}
