/** The bundle is made first where it is missing. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: ["./support/build-broker.ts"],
    // Most of these tests wait: for a process to drain, a slow client to be cut off, a page to load.
    maxWorkers: 3,
  },
});
