/**
 * Only a vendor's own file names that vendor: its peculiarities are data there, never a branch
 * elsewhere. Reads ids and hosts from the vendors' files and searches all other product code for
 * them. Run by vendor-names.test.ts.
 */
import type { Violation } from "./boundaries.ts";
import type { SourceFile } from "../sources.ts";

const FOLDER = "packages/oauth-core/src/registry/first-class/";

/**
 * Names of vendors that decide nothing, each with the reason. A host of the list, or an id as it is
 * written in the text.
 */
const ALLOWED: readonly { readonly files: RegExp; readonly line: RegExp }[] = [
  // Examples in the description of the configuration.
  { files: /^apps\/broker\/src\/config\/schema\/[a-z-]+\.ts$/, line: /\bexample: "/ },
];

interface VendorFile {
  readonly path: string;
  readonly id: string;
  readonly hosts: readonly string[];
}

/** @param files of the product, including those of the vendors */
export function checkVendorNames(files: readonly SourceFile[]): Violation[] {
  const product = files.filter(({ kind }) => kind === "product");
  const vendors = product.flatMap(vendorOf);
  return product.flatMap((file) => {
    const others = vendors.filter(({ path }) => path !== file.path);
    return file.text.split("\n").flatMap((line, index): Violation[] => {
      if (ALLOWED.some((allowed) => allowed.files.test(file.path) && allowed.line.test(line))) return [];
      return others
        .filter((vendor) => names(line, vendor))
        .map(({ id, path }) => ({
          rule: "vendors are named in their own files",
          path: file.path,
          line: index + 1,
          message: `${id} is named here. Its peculiarities belong in ${path}`,
        }));
    });
  });
}

/** A file of the folder that defines a vendor. */
function vendorOf({ path, text }: SourceFile): VendorFile[] {
  const id = path.startsWith(FOLDER) ? /defineVendor\(\{\s*id: "([^"]+)"/.exec(text)?.[1] : undefined;
  if (id === undefined) return [];
  const [facts = ""] = text.split("verification:");
  const hosts = Array.from(facts.matchAll(/https:\/\/([a-z0-9.-]+)/g), ([, host = ""]) => host);
  return [{ path, id, hosts: [...new Set(hosts)] }];
}

/**
 * Ordinary words (linear, notion) are allowed; the id as a separate text, and the hosts, are not.
 */
function names(line: string, { id, hosts }: VendorFile): boolean {
  const asText = new RegExp(`["'\`]${id}["'\`]`);
  return asText.test(line) || hosts.some((host) => line.includes(host));
}
