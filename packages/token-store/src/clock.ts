import type { Clock } from "@oauth-broker/oauth-core";

/** The wall clock. The one place of this package that reads it. */
export const systemClock: Clock = () => Math.floor(Date.now() / 1000);
