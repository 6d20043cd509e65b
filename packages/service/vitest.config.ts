import { testProjects } from "../../scripts/vitest-projects.ts";

export default testProjects();
