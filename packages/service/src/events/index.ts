/** Reconnect events, and what else works in the background on records that processes share. */
export { type Change, changeRecord, type ChangeOptions } from "./change-record.ts";
export { createLinkEvents, type LinkEvents, type LinkEventsDeps } from "./link-events.ts";
export type { LinkChange, OutboxLimits } from "./outbox.ts";
export { EVENT_VARIABLES, type EventSettings, type EventVariable, readEvents } from "./settings.ts";
export { startSweep, type Sweep } from "./start-sweep.ts";
