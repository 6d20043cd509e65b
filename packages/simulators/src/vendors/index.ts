export type {
  RecordedVendorRequest,
  RefusalPoint,
  SimulatedClient,
  SimulatorOptions,
  VendorSimulator,
} from "./base/simulator.ts";
export { startGitHub } from "./github.ts";
export type { GitHubClient, GitHubSimulator } from "./github.ts";
export { startGoogleWorkspace } from "./google.ts";
export type { GoogleSimulator } from "./google.ts";
export type { GoogleSettings } from "./google-settings.ts";
