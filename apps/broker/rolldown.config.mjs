// Bundles the broker into dist/main.js; service/src/bundle.ts sets the options.
import { bundle } from "@oauth-broker/service/bundle";

export default bundle({
  name: "The broker",
  // The sandbox's vendors and platform are not bundled; sandbox.ts reports when they are missing.
  external: ["@oauth-broker/simulators", "@oauth-broker/platform"],
});
