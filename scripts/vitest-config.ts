/**
 * How the tests of a workspace run: the vitest.config.ts of each calls this. Test files run one after
 * the other in the same worker, which loads what they import once, as Node.js loads the product. A
 * test that takes a defence off replaces a function (`weaken`), not a module.
 *
 * With SOAK=1 only the files run whose size is a `volume`, at full size (docs/testing.md).
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { patience } from "../packages/oauth-core/src/testing/time-limits.ts";

type TestOptions = NonNullable<ViteUserConfig["test"]>;

/** In the text of a test file that the soak runs, too. */
export const HAS_VOLUME = /\bvolume(?:<[^(]+>)?\(\{/;
const RELATIVE_IMPORT = /\bfrom "(\.[^"]*)"/g;

/**
 * For a workspace with the AWS SDK, which signs its requests even to the engines on loopback: it
 * must not look for credentials elsewhere.
 */
export const AWS_ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
  AWS_EC2_METADATA_DISABLED: "true",
  AWS_CONFIG_FILE: "/dev/null",
  AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
};

/** @param options what the workspace adds, for all its files */
export function testConfig(options: TestOptions = {}): ViteUserConfig {
  const isSoak = process.env.SOAK === "1";
  const all = "**/*.test.ts";
  const exclude = ["**/node_modules/**", "**/dist/**"];
  const ofSoak = () => globSync(all, { exclude }).filter((path) => HAS_VOLUME.test(textOf(path)));
  const include = isSoak ? ofSoak().map((path) => path.replaceAll("\\", "/")) : [all];
  // Without Vite: it would transform and load each module once more.
  const loading = { isolate: false, experimental: { viteModuleRunner: false, nodeLoader: false } };
  const setupFiles = [join(import.meta.dirname, "test-setup.ts"), ...[options.setupFiles ?? []].flat()];
  const provide = { isSoak };
  // Properties over hundreds of inputs, whole processes and browsers take longer than vitest's five
  // seconds, and on a busy machine much longer.
  const limits = { testTimeout: patience(9_000), hookTimeout: patience(9_000) };
  const expect = { poll: { timeout: patience(2_000) } };
  const workers = { maxWorkers: availableParallelism() };
  // First the one that the modules of tests are loaded after.
  const sequence = { setupFiles: "list", ...options.sequence } as const;
  return defineConfig({
    test: { include, exclude, ...loading, ...limits, expect, ...workers, provide, ...options, setupFiles, sequence },
  });
}

/** The text of a test file and of the fixtures it imports. */
function textOf(path: string): string {
  const text = readFileSync(path, "utf8");
  const fixtures = [...text.matchAll(RELATIVE_IMPORT)]
    .map(([, specifier = ""]) => join(dirname(path), specifier))
    .filter((file) => /(^|\/)(testing|support)\//.test(file) && existsSync(file));
  return [text, ...fixtures.map((file) => readFileSync(file, "utf8"))].join("\n");
}
