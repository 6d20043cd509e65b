/** The arithmetic of docs/capacity.md, "What to buy": from processor time per flow to cores and memory. */
import { pageLine } from "./section.ts";

/** Leaves room for peaks. */
const BUSY = 0.6;
/** The memory of a process with 1,000 connections, rounded up. */
const PROCESS_MIB = 350;

/** @param sqliteMs, tableMs processor time per flow of one process */
export function linesToBuy(sqliteMs: number, tableMs: number): string[] {
  const [onFile, onTable] = [sqliteMs.toFixed(1), tableMs.toFixed(1)];
  const cores = (rate: number, flowMs: string): number => (rate * Number(flowMs)) / 1000 / BUSY;
  const rates = [100, 1000, 10_000];
  const processes = rates.map((rate) => Math.round(cores(rate, onTable)) + 1);
  const short = (value: number): string => value.toFixed(value < 9.95 ? 1 : 0);
  return [
    `CPU per flow: ${onFile} ms on SQLite; ${onTable} ms on a table, most of it the AWS SDK. It signs seven`,
    "requests, and one more for each leg that another process serves.",
    "",
    pageLine(["on a table", "100 flows a second", "1,000", "10,000"]),
    pageLine(["---", "---", "---", "---"]),
    pageLine([`cores: rate × ${onTable} ms / ${BUSY}`, ...rates.map((rate) => short(cores(rate, onTable)))]),
    pageLine(["processes of one core, and one more", ...processes.map(String)]),
    pageLine([
      `memory, ${PROCESS_MIB} MiB each`,
      ...processes.map((count) => `${short((count * PROCESS_MIB) / 1024)} GiB`),
    ]),
    "",
    pageLine(["on SQLite, one machine", "100 flows a second", "500", "1,000 and more"]),
    pageLine(["---", "---", "---", "---"]),
    pageLine([
      `cores: rate × ${onFile} ms / ${BUSY}`,
      ...[100, 500].map((rate) => short(cores(rate, onFile))),
      "more than one process: use a table",
    ]),
  ];
}
