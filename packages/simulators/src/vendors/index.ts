export type { VendorSimulator } from "./base/host.ts";
export type { SimulatedClient, SimulatorOptions } from "./base/simulator.ts";
export { type GitHubClient, type GitHubSimulator, startGitHub } from "./github.ts";
export { startGoogleWorkspace } from "./google.ts";
export { startSlack } from "./slack.ts";
export { type AtlassianSimulator, startAtlassian } from "./atlassian.ts";
export { startLinear } from "./linear.ts";
export { startNotion } from "./notion.ts";
export { startMicrosoftAgent365 } from "./microsoft.ts";
