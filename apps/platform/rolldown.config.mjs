// Bundles the platform into dist/main.js; service/src/bundle.ts sets the options.
import { bundle } from "@oauth-broker/service/bundle";

export default bundle({
  name: "The platform",
  // The stand-ins for the local table are not bundled; sandbox.ts reports when they are missing.
  external: ["@oauth-broker/simulators/aws"],
});
