export type {
  RecordedVendorRequest,
  RefusalPoint,
  SimulatedClient,
  SimulatorOptions,
  VendorSimulator,
} from "./base/simulator.ts";
export { startGitHub } from "./github.ts";
export type { GitHubClient, GitHubSimulator } from "./github.ts";
