/**
 * The vendors the broker knows by itself. Adding one means a file beside this and a line here.
 */
import { atlassian } from "./atlassian.ts";
import { github } from "./github.ts";
import { googleWorkspace } from "./google-workspace.ts";
import { linear } from "./linear.ts";
import { microsoftAgent365 } from "./microsoft-agent365.ts";
import { notion } from "./notion.ts";
import type { RegistryEntry } from "./registry-entry.ts";
import { slack } from "./slack.ts";

export type { RegistryEntry, Verification, VendorSetup } from "./registry-entry.ts";

/** By `vendor.id`, in the order they are listed. */
export const REGISTRY: ReadonlyMap<string, RegistryEntry> = new Map(
  [github, slack, linear, notion, atlassian, googleWorkspace, microsoftAgent365].map((entry) => [
    entry.vendor.id,
    entry,
  ]),
);
