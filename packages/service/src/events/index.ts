/** Reconnect events: what becomes of users' links, signed and kept until a receiver has it. */
export { createLinkEvents, type LinkEvents, type LinkEventsDeps, startLinkEvents } from "./link-events.ts";
export type { LinkChange, OutboxLimits } from "./outbox.ts";
export { EVENT_VARIABLES, type EventSettings, type EventVariable, readEvents } from "./settings.ts";
