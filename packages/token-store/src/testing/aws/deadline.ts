/** For tests that ask what a call answers, not how soon, on a machine that may be busy. */
export const PATIENT = { deadlineMs: 30_000, requestTimeoutMs: 20_000 };
