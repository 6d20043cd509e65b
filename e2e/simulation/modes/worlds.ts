/** What can be simulated by seed. */
import { runBrokerSeed } from "./run-broker-seed.ts";
import { runServerSeed } from "./run-server-seed.ts";
import type { RunSeed } from "./run-world.ts";

export type WorldName = "brokers" | "servers";

export const WORLDS: Readonly<Record<WorldName, RunSeed>> = { brokers: runBrokerSeed, servers: runServerSeed };
