/** Builds what is missing of the services that tests start. */
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { testConfig } from "../scripts/vitest-config.ts";

/** At full size first those that wait, then the longest. Vitest knows how long a file took at small size. */
const LONGEST = [
  "load/scale/scale",
  "scenarios/delivery/mcp-in-apps",
  "load/drill/drill",
  "scenarios/broker/http-slow",
  "scenarios/delivery/scaffold",
  "scenarios/delivery/examples",
  "scenarios/vendors/prove",
  "scenarios/delivery/packages",
  "scenarios/delivery/commands",
  "simulation/modes/without-defence",
  "scenarios/pages/accessibility",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const first = LONGEST.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.endsWith(`/${name}.test.ts`)));
    return [...new Set([...first, ...sorted])];
  }
}

export default testConfig({
  setupFiles: ["./support/setup/new-test-file.ts"],
  globalSetup: ["./support/setup/built-services.ts", "./support/setup/chromium-of-this-run.ts"],
  // Most of these tests wait: for a process to drain, a slow client to be disconnected, a page to
  // load.
  maxWorkers: 3,
  ...(process.env.SOAK === "1" && { sequence: { sequencer: LongestFirst } }),
});
