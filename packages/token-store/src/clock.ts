import type { Clock } from "@oauth-broker/oauth-core";

/** The wall clock. The only code of this package that reads it. */
export const systemClock: Clock = () => Math.floor(Date.now() / 1000);
