/** The system clock, for what runs beside the broker. Tests of time pass their own. */

/** Whole seconds since 1970-01-01T00:00:00Z. */
export type Clock = () => number;

export const machineClock: Clock = () => Math.floor(Date.now() / 1000);
