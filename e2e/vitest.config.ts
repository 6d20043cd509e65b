/** Builds what is missing of the services that tests start. */
import { testProjects } from "../scripts/vitest-projects.ts";

export default testProjects({
  setupFiles: ["./support/setup/new-test-file.ts"],
  globalSetup: ["./support/setup/built-services.ts", "./support/setup/chromium-of-this-run.ts"],
  // Most of these tests wait: for a process to drain, a slow client to be disconnected, a page to
  // load. At full size they have their own work beside deadlines of real time.
  maxWorkers: process.env.SOAK === "1" ? 2 : 3,
});
