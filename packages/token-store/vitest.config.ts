import { testProjects } from "../../scripts/vitest-projects.ts";

// The SDK signs its requests even to the engines on loopback. It must not look for credentials
// elsewhere.
export default testProjects({
  env: {
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
  },
});
