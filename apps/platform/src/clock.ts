import type { Clock } from "@oauth-broker/oauth-core";

/** The only place that reads the wall clock. */
export const systemClock: Clock = () => Math.floor(Date.now() / 1000);
