/**
 * Applies the tables of boundary-rules.ts to the sources. Run by `npm run check`, in which oxlint
 * finds cycles of imports, confined globals and long files.
 */
import { posix } from "node:path";
import {
  type Confined,
  CONFINED_GLOBALS,
  CONFINED_MODULES,
  CONFINED_NUMBERS,
  MAX_FILES,
  MAY_BE_LARGE,
  ON_DEMAND,
  PURE_NAMES,
  UNREACHABLE,
  ZONES,
} from "./boundary-rules.ts";
import { type SourceFile, targetOf } from "../sources.ts";
import type { Import } from "../syntax.ts";

export interface Violation {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/**
 * @param entries package name and entry ("@oauth-broker/oauth-core/http") → path of the file it
 *   exports
 */
export function checkBoundaries(files: readonly SourceFile[], entries: ReadonlyMap<string, string>): Violation[] {
  const target: Target = ({ path }, { specifier }) => targetOf(path, specifier, entries);
  return [
    ...files.flatMap((file) => [...arrows(file, target), ...confined(file)]),
    ...reachable(files, target),
    ...folderCircles(files, target),
  ];
}

type Target = (file: SourceFile, one: Import) => string | undefined;

const zoneOf = (path: string): (typeof ZONES)[number] | undefined => ZONES.find(({ files }) => files.test(path));

const isForTests = (path: string): boolean => path.includes("/testing/");

function arrows(file: SourceFile, target: Target): Violation[] {
  const from = zoneOf(file.path);
  if (file.kind === "test" || isForTests(file.path) || from === undefined) return [];
  return file.imports.flatMap((one) => {
    const path = target(file, one);
    if (path === undefined) return [];
    const to = zoneOf(path);
    const refuse = (message: string): Violation[] => [
      { rule: "arrows", path: file.path, line: one.line, message: `${message} (${one.specifier})` },
    ];
    if (isForTests(path)) return refuse("this is for tests only");
    if (to === undefined || to === from) return [];
    if (!from.mayImport.includes(to.zone)) return refuse(`${from.zone} must not import ${to.zone}`);
    const isLoaded = ON_DEMAND.includes(from.zone);
    if (ON_DEMAND.includes(to.zone) && !isLoaded && !one.dynamic && one.values.length > 0) {
      return refuse(`${to.zone} is loaded by import() only`);
    }
    return [];
  });
}

function confined(file: SourceFile): Violation[] {
  if (file.kind !== "product") return [];
  const found = (rule: Confined, line: number, what: string): Violation[] =>
    rule.what.test(what) && !rule.allowed.some((allowed) => allowed.test(file.path))
      ? [{ rule: rule.rule, path: file.path, line, message: `${what} does not belong here: ${rule.instead}` }]
      : [];
  const opens = ({ values }: Import): boolean => !values.every((name) => PURE_NAMES.has(name));
  return [
    ...file.imports
      .filter(opens)
      .flatMap((one) => CONFINED_MODULES.flatMap((rule) => found(rule, one.line, one.specifier))),
    ...file.globals.flatMap(({ text, line }) => CONFINED_GLOBALS.flatMap((rule) => found(rule, line, text))),
    ...file.numbers.flatMap(({ text, line }) => CONFINED_NUMBERS.flatMap((rule) => found(rule, line, text))),
  ];
}

function reachable(files: readonly SourceFile[], target: Target): Violation[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return UNREACHABLE.flatMap(({ entry, specifier }) => {
    const seen = new Set<string>([entry]);
    const violations: Violation[] = [];
    for (const path of seen) {
      const file = byPath.get(path);
      for (const one of file?.imports ?? []) {
        if (file === undefined || one.values.length === 0) continue;
        if (specifier.test(one.specifier)) {
          violations.push({
            rule: "root entry",
            path,
            line: one.line,
            message: `${entry} reaches ${one.specifier} through this import`,
          });
        }
        const next = target(file, one);
        if (next !== undefined) seen.add(next);
      }
    }
    return violations;
  });
}

/** Full folders. */
export function checkFolders(files: readonly Pick<SourceFile, "path">[]): Violation[] {
  const folders = files.filter(({ path }) => !path.endsWith(".test.ts")).map(({ path }) => posix.dirname(path));
  const sizes = Map.groupBy(folders, (folder) => folder);
  return [...sizes].flatMap(([folder, { length }]) =>
    length <= MAX_FILES || MAY_BE_LARGE.test(folder)
      ? []
      : [{ rule: "small folders", path: folder, line: 1, message: `${length} files: at most ${MAX_FILES}` }],
  );
}

/**
 * Two folders that import each other are one folder in two places. A folder and one inside it may: the inner one
 * is a part of the outer one.
 */
function folderCircles(files: readonly SourceFile[], target: Target): Violation[] {
  const arrows = new Map<string, { readonly file: SourceFile; readonly one: Import }>();
  for (const file of files.filter(({ kind, path }) => kind === "product" && !isForTests(path))) {
    for (const one of file.imports) {
      const [from, to] = [posix.dirname(file.path), posix.dirname(target(file, one) ?? file.path)];
      if (from !== to && sourcesOf(from) === sourcesOf(to)) arrows.set(`${from} ${to}`, { file, one });
    }
  }
  return [...arrows].flatMap(([arrow, { file, one }]) => {
    const [from = "", to = ""] = arrow.split(" ");
    const back = arrows.get(`${to} ${from}`);
    if (back === undefined || from > to || `${to}/`.startsWith(`${from}/`)) return [];
    const message = `${from} and ${to} import each other (back in ${back.file.path}): what both need goes into one of them`;
    return [{ rule: "no circles of folders", path: file.path, line: one.line, message }];
  });
}

/** The `src` that a folder is in. */
const sourcesOf = (folder: string): string => `${folder}/`.split("/src/")[0] ?? folder;
