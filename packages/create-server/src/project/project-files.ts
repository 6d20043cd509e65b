/**
 * Files of a project that are generated, not copied: package.json, tsconfig.json, the ignore file.
 */
import type { Choices } from "../choices/choices.ts";
import type { Materials } from "../materials/materials.ts";

/** Our packages that the project needs at run time. */
const CORE = ["mcp-auth", "oauth-core", "token-store"];
const CORE_FOR_DEVELOPMENT = ["simulators"];

const packed = (name: string): [string, string] => [`@oauth-broker/${name}`, `file:packed/${name}.tgz`];

/**
 * The core comes from `packed/`: npm finds all of it there and asks no registry for it, since the
 * overrides redirect the packages' references to each other to the same files. `npm update` takes
 * newer files of the same names.
 */
export function packageJson({ name, mode }: Choices, { versions }: Pick<Materials, "versions">): string {
  const manifest = {
    name,
    version: "0.1.0",
    private: true,
    description: `An MCP server, ${mode === "hosted" ? "with an authorization server of its own" : "for tokens that the platform sends"}`,
    type: "module",
    engines: { node: ">=20" },
    scripts: {
      dev: "mcp-dev",
      test: "tsc && vitest run",
      build: "rolldown -c rolldown.config.mjs",
      start: "node dist/main.js",
    },
    dependencies: { ...Object.fromEntries(CORE.map(packed)), ...versions.dependencies },
    devDependencies: { ...Object.fromEntries(CORE_FOR_DEVELOPMENT.map(packed)), ...versions.devDependencies },
    // Node.js itself, for this machine: commands that npm runs here use it, whichever Node.js npm
    // itself runs on.
    optionalDependencies: versions.optionalDependencies,
    overrides: Object.fromEntries(
      [...CORE, ...CORE_FOR_DEVELOPMENT].map((one) => [`@oauth-broker/${one}`, `$@oauth-broker/${one}`]),
    ),
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

export function tsconfigJson(): string {
  const compilerOptions = {
    target: "es2024",
    lib: ["es2024"],
    types: ["node"],
    module: "nodenext",
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  };
  return `${JSON.stringify({ compilerOptions, include: ["src"] }, undefined, 2)}\n`;
}

export const GITIGNORE = "node_modules/\ndist/\ndata/\n.env\n";
