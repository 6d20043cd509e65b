// Generated. Remake: npm run docs
/** The vendors with a separate file. Listed by registry/registry.ts. */
import type { RegistryEntry } from "../entry/registry-entry.ts";
import { atlassian } from "./atlassian.ts";
import { github } from "./github.ts";
import { googleWorkspace } from "./google-workspace.ts";
import { linear } from "./linear.ts";
import { microsoftAgent365 } from "./microsoft-agent365.ts";
import { notion } from "./notion.ts";
import { slack } from "./slack.ts";

export const FIRST_CLASS: readonly RegistryEntry[] = [
  atlassian,
  github,
  googleWorkspace,
  linear,
  microsoftAgent365,
  notion,
  slack,
];
