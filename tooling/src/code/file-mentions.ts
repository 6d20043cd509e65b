/**
 * A comment that names a file names one that exists: in the same workspace by the name alone,
 * elsewhere with its folder. So a pointer does not outlive a move. Run by
 * `node tooling/src/main.ts check`.
 */
import { posix } from "node:path";
import type { Violation } from "./boundaries.ts";

/** A line of a comment, or one at the end of a line of code. */
const COMMENT = /^\s*(?:\/\*\*?|\*|\/\/)(.*)$|^[^"'`]*[;,{)] \/\/ (.*)$/;
/** Not what continues a name: `-token.ts`. */
const MENTION = /(?<![\w/.*-])((?:\.\.?\/)*(?:[\w-]+\/)*\w[\w.-]*\.(?:ts|mjs))(?!\w)/g;
/** What a build makes, and configurations, of which most folders have their own. */
const ANYWHERE = /^dist\/|^d\.ts$|(?:^|\.)(?:rolldown|vitest)\.config\.m?[jt]s$/;

/** Its text names files that there are not. */
const EXAMPLES = "tooling/src/code/file-mentions.test.ts";

/**
 * @param sources path → text; files other than TypeScript and modules are passed over
 * @param paths every file of the repository
 */
export function checkFileMentions(sources: ReadonlyMap<string, string>, paths: ReadonlySet<string>): Violation[] {
  const byName = Map.groupBy(paths, (path) => posix.basename(path));
  return [...sources]
    .filter(([path]) => /\.(?:ts|mjs)$/.test(path) && path !== EXAMPLES)
    .flatMap(([path, text]) =>
      text.split("\n").flatMap((line, index) => {
        const [, own, trailing] = COMMENT.exec(line) ?? [];
        return Array.from((own ?? trailing ?? "").matchAll(MENTION), ([, name = ""]) => name)
          .filter((name) => !ANYWHERE.test(name) && !exists(name, path, byName))
          .map((name) => ({ rule: "comments", path, line: index + 1, message: `${name} does not exist` }));
      }),
    );
}

function exists(name: string, from: string, byName: ReadonlyMap<string, readonly string[]>): boolean {
  const candidates = byName.get(posix.basename(name)) ?? [];
  if (candidates.includes(posix.join(posix.dirname(from), name))) return true;
  const [workspace = ""] = /^(?:(?:apps|packages|examples)\/)?[^/]+\//.exec(from) ?? [];
  const inner = name.replace(/^(?:\.\.?\/)+/, "");
  return candidates.some((path) =>
    inner.includes("/") ? `/${path}`.endsWith(`/${inner}`) : path.startsWith(workspace),
  );
}
