/**
 * The snippets of CONVENTIONS.md are pieces of this repository. Line 1 of each names the file; what
 * follows is in that file, line by line, except that a line `…` leaves out as many as one likes.
 * Run by conventions.test.ts.
 */

/**
 * @param page the text of CONVENTIONS.md
 * @param read the text of a file, `undefined` without a file
 * @returns what is wrong, one sentence each
 */
export function checkSnippets(page: string, read: (path: string) => string | undefined): string[] {
  return Array.from(page.matchAll(/```ts\n([^]*?)```/g), ([, snippet = ""]) => snippet).flatMap((snippet) => {
    const [first = "", ...lines] = snippet.trimEnd().split("\n");
    const [, path] = /^\/\/ (\S+\.ts)$/.exec(first) ?? [];
    if (path === undefined) return [`CONVENTIONS.md: a snippet begins with '${first}', not with the path of its file`];
    const text = read(path);
    if (text === undefined) return [`CONVENTIONS.md: ${path} does not exist`];
    const source = normalize(text.split("\n"));
    let from = 0;
    for (const piece of lines.join("\n").split(/^\s*…$/m)) {
      const wanted = normalize(piece.trim().split("\n"));
      const at = source.indexOf(wanted, from);
      if (at === -1)
        return [`CONVENTIONS.md: ${path} does not have '${wanted.split("\n")[0]?.trim() ?? ""}' as quoted`];
      from = at + wanted.length;
    }
    return [];
  });
}

/** A snippet may be indented less than its source. */
const normalize = (lines: readonly string[]): string => lines.map((line) => line.trim()).join("\n");
