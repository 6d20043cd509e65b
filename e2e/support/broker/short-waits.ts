/** The limits of short-waits-broker.ts, for the tests that expect them. */
import { HTTP_TIMEOUTS, type HttpTimeouts } from "@oauth-broker/service";

/** How much shorter: still much longer than a busy machine may be late. */
export const SHARE = 5;
/** Instead of 65: no test waits that long for the end of an idle connection. */
export const SHORT_IDLE_SECONDS = 3;

export const SHORT_HTTP_TIMEOUTS: Partial<HttpTimeouts> = {
  headersMs: HTTP_TIMEOUTS.headersMs / SHARE,
  requestMs: HTTP_TIMEOUTS.requestMs / SHARE,
  idleMs: SHORT_IDLE_SECONDS * 1000,
  checkMs: HTTP_TIMEOUTS.checkMs / SHARE,
};
