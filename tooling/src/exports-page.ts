/**
 * docs/exports.md: what each package offers under its name, so that a name that comes or goes shows in a diff. Of packages that are
 * published, as `publishConfig.exports` has them; what is for tests only is not among it.
 */
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { generated } from "./markdown.ts";
import { parseSource, ROOT } from "./sources.ts";
import type { Syntax } from "./syntax.ts";

export interface PublishedEntry {
  /** As it is imported: `@oauth-broker/oauth-core/egress`. */
  readonly specifier: string;
  readonly exports: Syntax["exports"];
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string>>;
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, unknown>> };
}

export function readPublished(root: string = ROOT): PublishedEntry[] {
  return globSync("packages/*/package.json", { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .sort()
    .flatMap((path) => {
      const manifest = JSON.parse(readFileSync(join(root, path), "utf8")) as Manifest;
      if (manifest.private === true) return [];
      return Object.keys(manifest.publishConfig?.exports ?? {}).map((entry) => {
        const source = posix.join(posix.dirname(path), manifest.exports?.[entry] ?? "");
        const { exports } = parseSource(source, readFileSync(join(root, source), "utf8"));
        return { specifier: posix.join(manifest.name, entry), exports };
      });
    });
}

export function renderExports(entries: readonly PublishedEntry[]): string {
  return generated(
    "Exports",
    "Every name the packages export, by the entry it is imported from. A change here is a change of the interface: [versioning.md](versioning.md).",
    ...entries.flatMap(({ specifier, exports }) => [`## ${specifier}`, namesOf(exports)]),
  );
}

/** Values first, one a line, so that a diff names each. */
function namesOf(exports: PublishedEntry["exports"]): string {
  const line = (isType: boolean): string[] =>
    exports
      .filter((one) => one.isType === isType)
      .map(({ name }) => `${isType ? "type " : "value"} ${name}`)
      .sort();
  return ["```", ...line(false), ...line(true), "```"].join("\n");
}
