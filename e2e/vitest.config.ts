/** The bundle is made first where it is missing. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // As scripts/vitest.mjs has them, for whoever runs one file alone.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    globalSetup: ["./support/build-broker.ts"],
    // Most of these tests wait: for a process to drain, a slow client to be cut off, a page to load.
    maxWorkers: 3,
  },
});
