/** Milliseconds since 1970-01-01T00:00:00Z, for the timestamps of log lines. No decision reads it. */
export const wallClock = (): number => Date.now();
