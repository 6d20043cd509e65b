import { defineConfig } from "vitest/config";

// The materials below dist/ include the template's tests, which only run inside a project.
export default defineConfig({ test: { include: ["src/**/*.test.ts"] } });
