import { defineConfig } from "vitest/config";

// The materials below dist/ hold the template's tests, which want the project around them.
export default defineConfig({ test: { include: ["src/**/*.test.ts"] } });
