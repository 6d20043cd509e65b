/**
 * The vendors the broker knows by itself: those with a file of their own, which is a file beside this and a line here, and
 * those of the catalogue, where a vendor is one entry of data. A file comes before the catalogue's entry of that id.
 */
import { atlassian } from "./atlassian.ts";
import { CATALOGUE, catalogueEntry } from "./catalogue.ts";
import { github } from "./github.ts";
import { googleWorkspace } from "./google-workspace.ts";
import { linear } from "./linear.ts";
import { microsoftAgent365 } from "./microsoft-agent365.ts";
import { notion } from "./notion.ts";
import type { RegistryEntry } from "./registry-entry.ts";
import { slack } from "./slack.ts";

export {
  capabilitiesOf,
  type EndpointVerification,
  type RegistryEntry,
  type VendorCapabilities,
  type VendorSetup,
  type Verification,
} from "./registry-entry.ts";

const FIRST_CLASS = [github, slack, linear, notion, atlassian, googleWorkspace, microsoftAgent365];

/** By `vendor.id`, in the order they are listed. */
export const REGISTRY: ReadonlyMap<string, RegistryEntry> = withCatalogue(
  new Map(FIRST_CLASS.map((entry) => [entry.vendor.id, entry])),
);

function withCatalogue(firstClass: ReadonlyMap<string, RegistryEntry>): Map<string, RegistryEntry> {
  const all = new Map(firstClass);
  for (const entry of CATALOGUE) if (!all.has(entry.vendor.id)) all.set(entry.vendor.id, catalogueEntry(entry));
  return all;
}
