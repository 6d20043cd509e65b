import { patience } from "@oauth-broker/oauth-core/testing";

/** For tests that ask what a call answers, not how soon, on a machine that may be busy. */
export const PATIENT: { readonly deadlineMs: number; readonly requestTimeoutMs: number } = {
  deadlineMs: patience(3_000),
  requestTimeoutMs: patience(2_000),
};
