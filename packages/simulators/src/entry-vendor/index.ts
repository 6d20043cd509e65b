export { type AccountWitness, type Entry, type Facts, isOfMcpServer, type Json } from "./facts.ts";
export { readEntries, readEntry } from "./facts.ts";
export { idleFactsOf, type Mutant, mutantsOf, NOT_BEHAVIOUR } from "./fact-table.ts";
export { misfits, sampleValues } from "./placeholders.ts";
export { createEntryVendor, type EntryFault, type EntryProxy, type EntryVendor, type FaultPoint } from "./vendor.ts";
export { startEntryProxy } from "./vendor.ts";
export { type Decision, takesScopes } from "./authorize.ts";
export type { VendorRequest } from "./requests.ts";
export {
  type EntryClient,
  type Grant,
  hasIdTokens,
  isRefreshable,
  isRevocable,
  keyPair,
  LIFETIME_SECONDS,
  LONG_LIFETIME_SECONDS,
  namesUnknownTokens,
  SAMPLE_RESOURCE,
  SAMPLE_SCOPES,
  SUBJECT,
} from "./state.ts";
export { accountUser, userOf } from "./identity.ts";
