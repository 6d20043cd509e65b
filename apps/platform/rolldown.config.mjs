// Bundles the platform into dist/main.js; what that takes is told in bundle.ts.
import { bundle } from "@oauth-broker/oauth-core/bundle";

export default bundle({
  name: "The platform",
  // The local table's stand-ins stay in the repository; sandbox.ts says so where they are missing.
  external: ["@oauth-broker/simulators/aws"],
});
