// Bundles the broker into dist/main.js; what that takes is told in bundle.ts.
import { bundle } from "@oauth-broker/oauth-core/bundle";

export default bundle({
  name: "The broker",
  // The sandbox's vendors stay in the repository; sandbox.ts says so where they are missing.
  external: ["@oauth-broker/simulators"],
});
