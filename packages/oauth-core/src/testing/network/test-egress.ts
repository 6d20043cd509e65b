/** Egress on the real network towards servers on loopback; what a test opens is closed after it. */
import { afterEach, expect } from "vitest";
import { createEgress, type Egress, type EgressDeps, type EgressOptions, REAL_NETWORK } from "../../egress/index.ts";
import { patience } from "../time-limits.ts";
import { type LoopbackServer, startLoopbackServer } from "./loopback-server.ts";
import { recordingNetwork, type RecordingNetwork } from "./recording-network.ts";

const OPTIONS: EgressOptions = { allowLoopback: true, allowCidrs: [], timeoutMs: patience(2_000) };
const running: { close(): Promise<void> }[] = [];

/** Called once in a test file. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const one of running.splice(0)) await one.close();
  });
}

/** Closes it after the test. */
export function track<T extends { close(): Promise<void> }>(one: T): T {
  running.push(one);
  return one;
}

/** A server on loopback. */
export async function start(...args: Parameters<typeof startLoopbackServer>): Promise<LoopbackServer> {
  return track(await startLoopbackServer(...args));
}

/** Egress without jitter. */
export function open(options: Partial<EgressOptions> = {}, deps: Partial<EgressDeps> = {}): Egress {
  return track(createEgress({ ...OPTIONS, ...options }, { ...REAL_NETWORK, jitterMs: () => 0, ...deps }));
}

/**
 * One call on a network without sockets, which fails: as a connection if an address is admitted,
 * otherwise refused.
 *
 * @param answers of DNS
 */
export async function tryToReach(
  url: string,
  options: Partial<EgressOptions>,
  { door = "fetch", answers }: { door?: "fetch" | "fetchUntrusted"; answers?: ReadonlyMap<string, string[]> } = {},
): Promise<RecordingNetwork> {
  const network = recordingNetwork(answers);
  const { [door]: fetch } = open(options, network.deps);
  const error: unknown = await fetch(url).catch((thrown: unknown) => thrown);
  const kind = network.sockets.length > 0 ? "connect" : "refused";
  expect(error).toMatchObject({ name: "EgressError", kind, sent: false });
  return network;
}
