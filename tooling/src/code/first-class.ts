/**
 * packages/oauth-core/src/registry/first-class/first-class.ts: the list of the vendors' own files, so that a
 * new vendor is only its file. A file is a vendor's when it exports a RegistryEntry; the export has
 * the name of the file in camelCase. And what these entries state, as data for the vendors that are
 * simulated from it: those import nothing of the registry.
 */
import { posix } from "node:path";
import { readTexts, ROOT } from "../sources.ts";

const FOLDER = "packages/oauth-core/src/registry/first-class";

export const FIRST_CLASS_PATH = `${FOLDER}/first-class.ts`;

/** @throws Error naming the vendor's file that has no export of its name */
export function renderFirstClass(root: string = ROOT): string {
  const vendors = [...readTexts([`${FOLDER}/*.ts`], root)]
    .filter(([path]) => /\/[a-z0-9-]+\.ts$/.test(path))
    .flatMap(([path, text]) => vendorOf(posix.basename(path), text));
  return `// Generated. Remake: npm run docs
/** The vendors with a separate file. Listed by registry/registry.ts. */
import type { RegistryEntry } from "../entry/registry-entry.ts";
${vendors.map(({ file, name }) => `import { ${name} } from "./${file}";`).join("\n")}

export const FIRST_CLASS: readonly RegistryEntry[] = [
${vendors.map(({ name }) => `  ${name},\n`).join("")}];
`;
}

function vendorOf(file: string, text: string): { file: string; name: string }[] {
  const exported = Array.from(text.matchAll(/^export const (\w+): RegistryEntry\b/gm), ([, name = ""]) => name);
  const name = exportName(file.slice(0, -".ts".length));
  if (exported.length === 0) return [];
  if (exported.length === 1 && exported[0] === name) return [{ file, name }];
  throw new Error(`${FOLDER}/${file} must export exactly one RegistryEntry, named ${name}`);
}

/** A vendor's id in camelCase, the name under which its file exports it. */
export function exportName(id: string): string {
  return id.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Beside the simulators that read it. */
export const FIRST_CLASS_FACTS_PATH = "packages/simulators/src/entry-vendor/first-class.json";

/** What of an entry is data. */
interface EntryFacts {
  readonly vendor: object;
  readonly placeholders: object;
}

/**
 * @param entries of the vendors with a separate file
 * @param defaults what every entry has that states nothing; left out
 * @returns one entry a line; functions are left out
 */
export function renderFirstClassFacts(entries: readonly EntryFacts[], defaults: object): string {
  const usual = new Map(Object.entries(defaults).map(([name, value]) => [name, JSON.stringify(value)]));
  const lines = entries.map(({ vendor, placeholders }) => {
    const stated = Object.entries(vendor).filter(([name, value]) => usual.get(name) !== JSON.stringify(value));
    return JSON.stringify({ vendor: Object.fromEntries(stated), placeholders });
  });
  return `{"//":"Generated. Remake: npm run docs","entries":[\n${lines.join(",\n")}\n]}\n`;
}
