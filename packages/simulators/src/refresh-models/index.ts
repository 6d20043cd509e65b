/** Vendors by how they refresh: started by a test of refreshing, and inspected afterwards. */
export { createModel, REFRESH_MODELS } from "./models.ts";
export type { IssuedTokens, ModelOptions, ModelState } from "./models.ts";
export { startRefreshVendor } from "./server.ts";
export type { Held, RefreshVendor } from "./server.ts";
