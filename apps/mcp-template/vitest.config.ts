import { testConfig } from "../../scripts/vitest-config.ts";

export default testConfig();
