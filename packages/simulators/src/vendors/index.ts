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
export type { GoogleSettings, GoogleSimulator } from "./google.ts";
export { startSlack } from "./slack.ts";
export type { SlackClient, SlackSimulator } from "./slack.ts";
export { startAtlassian } from "./atlassian.ts";
export type { AtlassianClient, AtlassianSettings, AtlassianSimulator } from "./atlassian.ts";
export type { AtlassianSite } from "./atlassian-api.ts";
export { startLinear } from "./linear.ts";
export type { LinearOptions } from "./linear.ts";
export { startNotion } from "./notion.ts";
export type { NotionSimulator } from "./notion.ts";
export type { NotionClient } from "./notion-api.ts";
export type { McpSimulator } from "./mcp/server.ts";
export { startMicrosoftAgent365 } from "./microsoft.ts";
export type { MicrosoftSimulator } from "./microsoft.ts";
export type { MicrosoftClient, MicrosoftSettings, MicrosoftTenant } from "./microsoft-settings.ts";
