import { AWS_ENVIRONMENT, testConfig } from "../../scripts/vitest-config.ts";

export default testConfig({ env: AWS_ENVIRONMENT });
