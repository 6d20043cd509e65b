/** The text of a first-class vendor's file, in the form of the existing ones. Called by new.ts. */
import type { VendorFacts } from "./vendor-facts.ts";

export interface FileAbout {
  /** YYYY-MM-DD */
  readonly checkedOn: string;
  readonly sources: readonly string[];
}

const WIDTH = 120;

/** @returns TypeScript that oxfmt does not change */
export function vendorFile(vendor: VendorFacts, { checkedOn, sources }: FileAbout): string {
  const fields = Object.entries(vendor).map(([name, value]) => field(name, value));
  return `/**
 * ${vendor.name}. Facts of ${checkedOn} from the metadata at the source below; nothing is recalled.
 *
 * What metadata does not say has its default and is still to be found out (docs/adding-a-vendor.md).
 */
import type { RegistryEntry } from "../entry/registry-entry.ts";
import { defineVendor } from "../vendor.ts";

export const ${exportName(vendor.id)}: RegistryEntry = {
  vendor: defineVendor({
${fields.join("\n")}
  }),
  placeholders: {},
  setup: "none",
  byoc: ${vendor.registrationEndpoint === undefined},
  verification: {
    status: "first-class",
    checkedOn: "${checkedOn}",
    sources: ${literal(sources, 4 + "sources: ,".length)},
  },
};
`;
}

/** As tooling/src/code/first-class.ts requires it: the id in camelCase. */
export function exportName(id: string): string {
  return id.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function field(name: string, value: unknown): string {
  const line = `    ${name}: ${literal(value, 4 + name.length + 3)},`;
  return line.length > WIDTH && typeof value === "string" ? `    ${name}:\n      ${JSON.stringify(value)},` : line;
}

/** @param taken columns of the line beside the value */
function literal(value: unknown, taken: number): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  const members = value.map((member) => JSON.stringify(member));
  const line = `[${members.join(", ")}]`;
  return line.length + taken <= WIDTH ? line : `[\n${members.map((member) => `      ${member},\n`).join("")}    ]`;
}
