/**
 * What the registry says of a vendor beyond how to speak with it (vendor.ts): what has to be arranged first, where its MCP
 * server is, and how the facts were checked. Made by the vendor's own file, listed by registry.ts.
 */
import type { PlaceholderSpecs } from "../protocol/placeholders.ts";
import type { Vendor } from "./vendor.ts";

/**
 * `vendor_approval`: the vendor approves each organization before any flow. `environment_id`: the organization names its
 * environment, which is part of `serverUrl`, and its administrator consents once.
 */
export type VendorSetup = "none" | "vendor_approval" | "environment_id";

export interface Verification {
  readonly status: "first-class" | "two-sources" | "listed";
  /** YYYY-MM-DD */
  readonly checkedOn: string;
  /** URLs, or where in which repository. */
  readonly sources: readonly string[];
}

export interface RegistryEntry {
  readonly vendor: Vendor;
  /** Of its endpoint templates and of `serverUrl`. */
  readonly placeholders: PlaceholderSpecs;
  readonly setup: VendorSetup;
  /** The customer may bring an app of his own. Clients made by dynamic registration do not count. */
  readonly byoc: boolean;
  /** Of the vendor's MCP server; may hold `{placeholders}`. */
  readonly serverUrl?: string;
  readonly verification: Verification;
}
