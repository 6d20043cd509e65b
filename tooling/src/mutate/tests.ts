/** Which tests may notice that a defence is gone. Called by list.ts and guards.ts. */
import { posix } from "node:path";
import { indexStandards } from "../pages/standards-index.ts";
import { EVERYTHING, readSources, ROOT, type SourceFile } from "../sources.ts";

export interface Tests {
  /**
   * Those whose titles carry one of the sections. The first has the file's own name, or shares most
   * folders with it: the first that notices ends the search.
   */
  carrying(path: string, sections: readonly string[]): string[];
  /** Where there is one. */
  beside(path: string): string[];
  /** @returns the one whose path ends so, `hosted/rate-limit` */
  named(end: string): string;
}

export function readTests(root: string = ROOT): Tests {
  return testsOf(readSources(EVERYTHING, root));
}

/** @param files whose tests may notice; twins prove nothing here */
export function testsOf(files: readonly SourceFile[]): Tests {
  const tests = files.filter(({ path }) => path.endsWith(".test.ts"));
  const paths = tests.map(({ path }) => path);
  const known = new Set(paths);
  const { proved } = indexStandards(tests.filter(({ path }) => !path.endsWith(".twin.test.ts")));
  return {
    carrying(path, sections) {
      const found = new Set(sections.flatMap((section) => proved.get(section) ?? []));
      const distance = distanceFrom(path);
      return [...found].sort((a, b) => distance(a) - distance(b) || (a < b ? -1 : 1));
    },
    beside: (path) => [path.replace(/\.ts$/, ".test.ts")].filter((test) => known.has(test)),
    named(end) {
      const [first, ...others] = paths.filter((path) => `/${path}`.endsWith(`/${end}.test.ts`));
      if (first === undefined || others.length > 0) throw new Error(`${end} is not the end of one test's path`);
      return first;
    },
  };
}

function distanceFrom(path: string): (test: string) => number {
  const folders = posix.dirname(path).split("/");
  const name = posix.basename(path, ".ts");
  return (test) => {
    const others = posix.dirname(test).split("/");
    const shared = folders.findIndex((folder, index) => folder !== others[index]);
    const isNamesake = posix.basename(test).split(".", 1)[0] === name;
    return (isNamesake ? 0 : 100) + folders.length - (shared === -1 ? folders.length : shared);
  };
}
