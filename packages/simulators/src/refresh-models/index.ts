/** Vendors by how they refresh: started by a test of refreshing, and inspected afterwards. */
export { createModel, type IssuedTokens, type ModelOptions, type ModelState, REFRESH_MODELS } from "./models.ts";
export { type RefreshVendor, startRefreshVendor } from "./server.ts";
