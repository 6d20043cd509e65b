export type {
  RecordedVendorRequest,
  RefusalPoint,
  SimulatedClient,
  SimulatorOptions,
  VendorSimulator,
} from "./base/simulator.ts";
export { startGitHub } from "./github.ts";
export type { GitHubSimulator } from "./github.ts";
export type { GitHubClient } from "./github-state.ts";
export { startGoogleWorkspace } from "./google.ts";
export type { GoogleSimulator } from "./google.ts";
export type { GoogleSettings } from "./google-settings.ts";
export { startSlack } from "./slack.ts";
export type { SlackSimulator } from "./slack.ts";
export type { SlackClient } from "./slack-state.ts";
export { startAtlassian } from "./atlassian.ts";
export type { AtlassianSimulator } from "./atlassian.ts";
export type { AtlassianClient, AtlassianSettings, AtlassianSite } from "./atlassian-settings.ts";
export { startLinear } from "./linear.ts";
export type { LinearOptions } from "./linear.ts";
export { startNotion } from "./notion.ts";
export type { NotionSimulator } from "./notion.ts";
export type { NotionClient } from "./notion-api.ts";
export type { McpClient, McpSimulator } from "./mcp/rules.ts";
export { startMicrosoftAgent365 } from "./microsoft.ts";
export type { MicrosoftSimulator } from "./microsoft.ts";
export type { MicrosoftClient, MicrosoftSettings, MicrosoftTenant } from "./microsoft-settings.ts";
