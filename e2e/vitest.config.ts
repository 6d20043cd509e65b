/** Builds the bundle first if it is missing. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // As in scripts/vitest.mjs, for a file run by hand.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    globalSetup: ["./support/build-broker.ts"],
    // Most of these tests wait: for a process to drain, a slow client to be disconnected, a page to
    // load.
    maxWorkers: 3,
  },
});
