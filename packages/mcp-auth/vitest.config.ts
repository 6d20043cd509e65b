import { AWS_ENVIRONMENT, testProjects } from "../../scripts/vitest-projects.ts";

export default testProjects({ env: AWS_ENVIRONMENT });
