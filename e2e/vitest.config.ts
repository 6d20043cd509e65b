/** Whole processes and browsers take longer than units: wider limits, and the bundle made first where it is missing. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: ["./support/build-broker.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
