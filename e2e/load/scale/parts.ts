/** The parts of `npm run scale`, by name. */
import { measureConfiguration } from "./parts/configuration.ts";
import { measureConnections } from "./parts/connections.ts";
import { measureDue } from "./parts/due.ts";
import { measureHanging } from "./parts/hanging.ts";
import { measureProcesses } from "./parts/processes.ts";
import { measureRecords } from "./parts/records.ts";
import { measureUnits } from "./parts/units.ts";
import { measureWaiting } from "./parts/waiting.ts";
import { onStage, type Stage } from "../stage.ts";
import type { Found } from "./section.ts";
import type { Size } from "./size.ts";

interface PartOfRun {
  /** One line for the help. */
  readonly about: string;
  readonly measure: (size: Size, say: (line: string) => void, stage: Stage) => Promise<Found>;
}

export const PARTS = {
  records: { about: "1,000 to 1,000,000 records in the store: CPU per flow", measure: measureRecords },
  processes: { about: "1 to 4 processes on one SQLite file and on one table: CPU per flow", measure: measureProcesses },
  configuration: {
    about: "1 to 1,000 clients and vendors: CPU per flow, time to start",
    measure: measureConfiguration,
  },
  connections: {
    about: "32 to 1,000 connections, and 200 busy ones beside 1,000 idle: CPU per flow, memory of each",
    measure: measureConnections,
  },
  waiting: {
    about: "10,000 flows whose users are at the vendor, on memory and SQLite: memory of each",
    measure: measureWaiting,
  },
  hanging: { about: "1 vendor of 10 hangs: CPU and time of the flows at the others, memory", measure: measureHanging },
  due: { about: "3,000 tokens that are due together, at vendors that allow 5 calls a second", measure: measureDue },
  units: { about: "what DynamoDB and KMS charge for a flow, a refresh and a call of /mcp", measure: measureUnits },
} as const satisfies Readonly<Record<string, PartOfRun>>;
export type Part = keyof typeof PARTS;

/**
 * @param say prints a line of progress
 * @throws Error when a process ends, or an answer is wrong
 */
export async function measurePart(part: Part, size: Size, say: (line: string) => void): Promise<Found> {
  return onStage((stage) => PARTS[part].measure(size, say, stage));
}

/** @throws Error with a sentence for the user */
export function partNamed(name: string): Part {
  if (!Object.hasOwn(PARTS, name)) throw new Error(`'${name}' is no part; parts: ${Object.keys(PARTS).join(", ")}`);
  return name as Part;
}
