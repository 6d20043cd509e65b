/** The simulator of a vendor, and options that point the vendor's entry there or at a test's own server. */
import type { VendorSimulator } from "@oauth-broker/simulators/vendors";
import { onTestFinished } from "vitest";
import { type SimulatorSetup, SIMULATORS } from "../../../../packages/simulators/src/testing/replay-fixture.ts";

/** Closed with the test. */
export async function startSimulator(id: string): Promise<SimulatorSetup> {
  const stage = await SIMULATORS[id]!();
  onTestFinished(() => stage.simulator.close());
  return stage;
}

export function atSimulator(
  { id, endpoints }: Pick<VendorSimulator, "id" | "endpoints">,
  other: Readonly<Record<string, string>> = {},
): string[] {
  const all = Object.entries({ ...endpoints, ...other });
  return [id, "--loopback", ...all.flatMap(([name, url]) => ["--endpoint", `${name}=${url}`])];
}
