/**
 * How a project becomes one file, `dist/main.js`: what its rolldown.config.mjs imports. An entry of
 * this package, so that a project depends on no other.
 */
export { type Bundle, bundle, type BundleOptions } from "@oauth-broker/service/bundle";
