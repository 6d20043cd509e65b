/** The few pieces of Markdown that the generated documents consist of. */
import { wrapProse } from "./prose.ts";

/** A generated document. Line 1 says how to regenerate it. */
export function generated(title: string, ...blocks: readonly string[]): string {
  return wrapProse(["<!-- Generated. Remake: npm run docs -->", `# ${title}`, ...blocks].join("\n\n") + "\n");
}

/** A link from docs/ to a file of the repository, shown without its leading folders. */
export function link(path: string): string {
  const shown = path.replace(/^(packages|apps)\//, "").replace("/src/", "/");
  return `[${shown}](../${path})`;
}
