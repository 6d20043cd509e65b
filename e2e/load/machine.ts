/** Describes the machine of the measurements. */
import { availableParallelism, cpus } from "node:os";

export function describeMachine(): string {
  return `${process.platform} ${process.arch}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? "unknown"}`;
}
