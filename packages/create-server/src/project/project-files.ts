/**
 * Files of a project that are generated, not copied: package.json, the ignore files.
 */
import type { Choices } from "../choices/choices.ts";
import type { Materials } from "../materials/materials.ts";

/**
 * One dependency. From `packed/` it installs its siblings too; `npm update` takes newer files of
 * the same names, and from a registry newer releases.
 */
export function packageJson({ name, mode }: Choices, { core, node, tools, version }: Materials): string {
  const ours = (one: string): Record<string, string> => ({
    [`@oauth-broker/${one}`]: core === "packed" ? `file:packed/${one}.tgz` : `^${version}`,
  });
  const manifest = {
    name,
    version: "0.1.0",
    private: true,
    description: `An MCP server, ${mode === "hosted" ? "with its own authorization server" : "for tokens that the platform sends"}`,
    type: "module",
    engines: { node },
    scripts: {
      dev: "mcp-dev",
      test: "tsc && vitest run",
      build: "rolldown -c rolldown.config.mjs",
      start: "node dist/main.js",
    },
    dependencies: ours("mcp-auth"),
    devDependencies: { ...ours("simulators"), ...tools },
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

export const GITIGNORE = "node_modules/\ndist/\ndata/\n.env\n";

/** What a checkout has gathered and the image is built without. */
export const DOCKERIGNORE = `${GITIGNORE}.git/\n`;
