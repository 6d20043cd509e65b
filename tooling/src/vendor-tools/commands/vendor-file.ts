/** The text of a first-class vendor's file, in the form of the existing ones. Called by new.ts. */
import { format } from "oxfmt";
import { exportName } from "../../code/first-class.ts";
import type { VendorFacts } from "./vendor-facts.ts";
import layout from "../../../../.oxfmtrc.json" with { type: "json" };

export interface FileAbout {
  /** YYYY-MM-DD */
  readonly checkedOn: string;
  readonly sources: readonly string[];
}

/** @returns TypeScript that oxfmt does not change */
export async function vendorFile(vendor: VendorFacts, { checkedOn, sources }: FileAbout): Promise<string> {
  const fields = Object.entries(vendor).map(([name, value]) => `${name}: ${JSON.stringify(value)},\n`);
  const text = `/**
 * ${vendor.name}. Facts of ${checkedOn} from the metadata at the source below; nothing is recalled.
 *
 * What metadata does not say has its default and is still to be found out (docs/adding-a-vendor.md).
 */
import type { RegistryEntry } from "../entry/registry-entry.ts";
import { defineVendor } from "../vendor.ts";

export const ${exportName(vendor.id)}: RegistryEntry = {
  vendor: defineVendor({
${fields.join("")}
  }),
  placeholders: {},
  setup: "none",
  byoc: ${vendor.registrationEndpoint === undefined},
  verification: {
    status: "first-class",
    checkedOn: "${checkedOn}",
    sources: ${JSON.stringify(sources)},
  },
};
`;
  return (await format("vendor.ts", text, { printWidth: layout.printWidth })).code;
}
