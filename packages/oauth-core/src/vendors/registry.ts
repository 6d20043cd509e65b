/**
 * The vendors the broker knows by itself: those with a file of their own, which is a file beside this, and those of the
 * catalogue, where a vendor is one entry of data. A file comes before the catalogue's entry of that id.
 */
import { CATALOGUE, catalogueEntry } from "./catalogue.ts";
import { FIRST_CLASS } from "./first-class.ts";
import { lazyMap } from "./lazy-map.ts";
import type { RegistryEntry } from "./registry-entry.ts";

export {
  capabilitiesOf,
  type EndpointVerification,
  type RegistryEntry,
  type VendorCapabilities,
  type VendorSetup,
  type Verification,
} from "./registry-entry.ts";

/** By `vendor.id`, in the order they are listed. An entry of the catalogue is made when it is first asked for. */
export const REGISTRY: ReadonlyMap<string, RegistryEntry> = lazyMap(entryMakers());

function entryMakers(): Map<string, () => RegistryEntry> {
  const makers = new Map<string, () => RegistryEntry>(FIRST_CLASS.map((entry) => [entry.vendor.id, () => entry]));
  for (const entry of CATALOGUE) {
    if (!makers.has(entry.vendor.id)) makers.set(entry.vendor.id, () => catalogueEntry(entry));
  }
  return makers;
}
